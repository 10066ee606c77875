// Serves pages that were seen, with what they load, where the network gives nothing. What Python needs stands in a cache
// of its own, which the worker fills.
const PAGES = "attention-by-hand/pages";
const PYTHON = "attention-by-hand/@FOLDER@";

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const clear = async () => {
    for (const name of await caches.keys())
      if (name.startsWith("attention-by-hand/") && name !== PAGES && name !== PYTHON) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(clear());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith(request.url.includes("/in_page/@FOLDER@/") ? fromCache(request) : fromNetwork(request));
});

async function fromCache(request) {
  return (await caches.match(request)) ?? fetch(request);
}

async function fromNetwork(request) {
  try {
    const found = await fetch(request);
    if (found.ok) keep(request, found.clone());
    return found;
  } catch (error) {
    const found = await caches.match(request, { ignoreSearch: true });
    if (found) return found;
    throw error;
  }
}

async function keep(request, found) {
  try {
    await (await caches.open(PAGES)).put(request, found);
  } catch {
    // no room: this page will not be there offline
  }
}
