// Fills the list of versions from versions.json, which the release writes one folder above the version's pages. A copy
// without that file, such as one that you built, shows no list.
document.addEventListener("DOMContentLoaded", async () => {
  const list = document.getElementById("version");
  if (!list || location.protocol === "file:") return;
  const above = new URL(`${list.dataset.root}../`, location.href);
  const answer = await fetch(new URL("versions.json", above)).catch(() => null);
  if (!answer?.ok) return;
  for (const name of await answer.json()) {
    list.add(new Option(name, name, false, name === list.dataset.version));
  }
  list.closest(".versions").hidden = false;
  list.addEventListener("change", async () => {
    const page = new URL(`${list.value}/${list.dataset.page}.html`, above);
    const there = await fetch(page, { method: "HEAD" }).catch(() => null);
    location.href = there?.ok ? page : new URL(`${list.value}/index.html`, above);
  });
});
