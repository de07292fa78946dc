// Updates the lists from a feed, as every consumer does that uses addrspec/lists.

import { check, load, setLists } from "addrspec";
import { ListsError, updateLists, verifyLists } from "addrspec/lists";

export async function update(url, key) {
  const isPublic = async () => (await check("jane@swapped.example")).public;
  const checker = await load();
  const Before = await isPublic();
  const { version, updated, signed } = await updateLists(checker, { url, key });
  const After = await isPublic();
  const second = await updateLists(checker, { url, key });
  const refused = updateLists(checker, { url: `${url}/none`, key });
  return {
    Before,
    Updated: updated,
    After,
    Again: second.updated,
    Version: version,
    InUse: checker.versions().lists,
    Signed: signed.getTime() / 1000,
    Refused: await refused.catch((error) => error instanceof ListsError && error.message),
    ...(await verify(url, key)),
  };
}

/** Uses the two files without updateLists, as a program does that gets them in its own way. */
async function verify(url, key) {
  const get = (file) => fetch(`${url}/${file}`);
  const blob = new Uint8Array(await (await get("lists.blob")).arrayBuffer());
  const signature = await (await get("lists.blob.minisig")).text();
  const { version } = await verifyLists(blob, signature, key);
  await setLists(blob);
  blob[blob.length >> 1] ^= 1; // the package has its own copy
  const damaged = verifyLists(blob, signature, key);
  return {
    Verified: version,
    Damaged: await damaged.catch((error) => error.message),
    Unsigned: await setLists(blob).catch((error) => error.message),
  };
}
