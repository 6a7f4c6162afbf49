/**
 * Keeps the studio's own files, so that it opens without a network. The page asks the network first: a new version is seen at
 * once, and what was kept is the answer only where there is none. Files of the user are never kept.
 */
/// <reference lib="webworker" />
const scope = globalThis as unknown as ServiceWorkerGlobalScope;
const KEPT = 'poise-studio';
const OWN = /\/(|index\.html|[\w-]+\.(js|css|svg|webmanifest)|poise\.wasm\.gz)$/;

/** All that the build made, which it lists in files.json. */
async function keepAll(): Promise<void> {
  const cache = await caches.open(KEPT);
  const list = (await (await fetch('./files.json')).json()) as string[];
  await cache.addAll(['./', ...list.map((name) => `./${name}`)]);
  const own = new Set(list.map((name) => new URL(name, scope.registration.scope).href));
  for (const { url } of await cache.keys()) {
    if (!own.has(url) && url !== scope.registration.scope) {
      await cache.delete(url); // of a version before
    }
  }
}

async function answer(request: Request): Promise<Response> {
  const { origin, pathname } = new URL(request.url);
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(request.mode === 'navigate' ? './' : origin + pathname);
    if (kept) {
      return kept;
    }
    throw error;
  }
}

scope.addEventListener('install', (event) => event.waitUntil(keepAll().then(() => scope.skipWaiting())));
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url);
  if (event.request.method === 'GET' && origin === scope.location.origin && OWN.test(pathname)) {
    event.respondWith(answer(event.request));
  }
});
