// isemail. Its diagnoses below 32 are the categories VALID, DNSWARN, RFC5321 and
// CFWS of is_email; from 32 on, the syntax is deprecated or wrong.
import isemail from "isemail";

export const valid = (email) => ({ yes: isemail.validate(email, { errorLevel: true }) < 32 });
