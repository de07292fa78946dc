/** The live check of the front door. The module is loaded when somebody is about to type. */

import { load } from "./addrspec.js";
import { liveCheck } from "./livecheck.js";

const live = document.getElementById("live");
if (live !== null) {
  const module = new URL(live.dataset.module ?? "", location.href);
  liveCheck(() => load(module.href));
}
