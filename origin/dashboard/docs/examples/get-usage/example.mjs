import { Client } from "addrspec/client";

const { points } = await new Client("http://127.0.0.1:8080", process.env.ADDRSPEC_KEY).usage();

console.log("points:", points.used, "of", points.limit ?? "unlimited");
