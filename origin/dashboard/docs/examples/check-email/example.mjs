import { Client } from "addrspec/client";

const client = new Client("http://127.0.0.1:8080", process.env.ADDRSPEC_KEY);
const { result, error } = await client.check("jane.doe+news@hotmial.com");

if (error) throw new Error(error.message); // the name servers of the domain failed: try again later
console.log("valid:", result.valid);
if (result.typo_suggestion) console.log("perhaps meant:", result.typo_suggestion);
