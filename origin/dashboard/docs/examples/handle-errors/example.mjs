import { ApiError, Client, PointsUsedUp } from "addrspec/client";

const client = new Client("http://127.0.0.1:8080", process.env.ADDRSPEC_KEY);

try {
  await client.check("jane@example.org", { policy: "sign-up" });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  if (error instanceof PointsUsedUp) console.log("no points are left:", error.message);
  else console.log(error.status, error.code); // message says what to do; requestId is for support
}
