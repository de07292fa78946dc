const address = encodeURIComponent("jane.doe+news@hotmial.com");
const response = await fetch(`http://127.0.0.1:8080/v1/email/${address}`, {
  headers: { "X-API-Key": process.env.ADDRSPEC_KEY },
});
if (!response.ok) throw new Error(`status ${response.status}`); // see the guide "Handle errors"
const result = await response.json();

console.log("valid:", result.valid);
if (result.typo_suggestion) console.log("perhaps meant:", result.typo_suggestion);
