import { load } from 'poise-ik';
import { App } from './app.js';
import { element } from './dom.js';
import { fetchParts } from './loading/parts.js';
import { probeOf } from './probe.js';
import './style.css';

async function begin(): Promise<void> {
  const splash = document.querySelector('.splash');
  const waiting = splash?.querySelector('p') ?? document.body.appendChild(element('p'));
  try {
    if (!document.createElement('canvas').getContext('webgl2')) {
      throw new Error('it draws with WebGL 2, which this browser lacks or has switched off. Switch on hardware acceleration in its settings, or try another browser.');
    }
    const poise = await load();
    const app = new App(poise, document.body);
    await app.opener.open(new URL(location.href));
    splash?.remove();
    (globalThis as { studio?: unknown }).studio = probeOf(app);
  } catch (error) {
    waiting.textContent = `Poise studio could not start: ${error instanceof Error ? error.message : String(error)}`;
    splash?.classList.add('failed');
    console.info(error);
  }
}

/** What opens the studio without a network comes when there is nothing else to do. */
async function keepOffline(): Promise<void> {
  const { hostname, search } = location;
  if (/^(127\.|localhost$|\[::1\]$)/.test(hostname) && !/[?&]offline\b/.test(search)) {
    return; // this machine serves it: there is nothing to keep
  }
  try {
    await navigator.serviceWorker?.register('./service_worker.js', { type: 'module' });
  } catch (error) {
    console.info('not kept for use without a network:', error);
  }
}

const IDLE = 1500; // milliseconds after the first frame in which nothing is fetched

void begin().then(keepOffline).then(() =>
  setTimeout(() => void fetchParts().catch((error: unknown) => console.info('parts are fetched when they are needed:', error)), IDLE),
);
