// The key of a page is public. Bind it to the page's origin, and give it a budget.
const KEY = "ask_your_browser_key";

async function check(address) {
  try {
    const response = await fetch(`http://127.0.0.1:8080/v1/email/${encodeURIComponent(address)}`, {
      headers: { "X-API-Key": KEY },
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null; // a check that failed must not keep anybody from signing up
  }
}

const input = document.querySelector("input[type=email]");
const hint = document.querySelector("#email-hint");
input.addEventListener("change", async () => {
  const result = await check(input.value);
  hint.textContent = result?.typo_suggestion ? `Did you mean ${result.typo_suggestion}?` : "";
});
