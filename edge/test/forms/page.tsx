// A page with every form, each of which says what it saved: globalThis.saved.

import { createRoot } from "react-dom/client";
import { SignUp as ArkType } from "./arktype.ts";
import { SignUp as Element } from "./element.tsx";
import { BySchema, SignUp } from "./react-hook-form.tsx";
import { SignUp as TanStack } from "./tanstack.tsx";
import { SignUp as Valibot } from "./valibot.ts";
import { SignUp as Zod } from "./zod.ts";

declare global {
  var saved: string[];
}
globalThis.saved = [];

const save = (address: string) => void saved.push(address);
const root = document.createElement("main");
document.body.append(root);
createRoot(root).render(
  <>
    <TanStack save={save} />
    <SignUp id="rule" save={save} />
    <BySchema id="zod" save={save} schema={Zod} />
    <BySchema id="valibot" save={save} schema={Valibot} />
    <BySchema id="arktype" save={save} schema={ArkType} />
    <Element save={save} />
  </>,
);
