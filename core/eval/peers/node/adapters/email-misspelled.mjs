// email-misspelled with its list "top100", as its documentation does. It sorts its
// suggestions; the first is the result.
import emailMisspelled, { top100 } from "email-misspelled";

const check = emailMisspelled({ domains: top100 });

export const typo = (domain) => ({ text: check(`someone@${domain}`)[0]?.suggest ?? "" });
