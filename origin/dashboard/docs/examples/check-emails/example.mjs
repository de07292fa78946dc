const response = await fetch("http://127.0.0.1:8080/v1/emails", {
  method: "POST",
  headers: {
    "X-API-Key": process.env.ADDRSPEC_KEY,
    "Content-Type": "application/json",
    "Idempotency-Key": crypto.randomUUID(), // the same one if you send this batch again
  },
  body: JSON.stringify({ emails: ["jane@example.org", "info@hotmial.com"] }),
});
if (!response.ok) throw new Error(`status ${response.status}`);
const batch = await response.json();

for (const { email, result, error } of batch.results) {
  if (error) console.log(email, error.code);
  else console.log(email, "valid:", result.valid, "typo:", result.typo);
}
console.log("points:", batch.usage_points);
