const response = await fetch("http://127.0.0.1:8080/v1/usage", {
  headers: { "X-API-Key": process.env.ADDRSPEC_KEY },
});
if (!response.ok) throw new Error(`status ${response.status}`);
const { points } = await response.json();

console.log("points:", points.used, "of", points.limit ?? "unlimited");
