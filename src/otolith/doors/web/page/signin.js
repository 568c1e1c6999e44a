// The one-time code stands after the # of the link, so it reaches no log and no other page.
const code = location.hash.slice(1);
const state = document.getElementById("state");

async function signIn() {
  history.replaceState(null, "", "/in");
  if (!code) throw new Error("This address needs the code of a sign-in link.");
  const answer = await fetch("/api/signin", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }),
  });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  location.replace("/");
}

signIn().catch((error) => {
  state.textContent = error.message;
  document.getElementById("hint").hidden = false;
});
