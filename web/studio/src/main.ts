import { load } from 'poise-ik';
import { App } from './app.js';
import { element } from './dom.js';
import { probeOf } from './probe.js';
import './style.css';

async function begin(): Promise<void> {
  const waiting = element('p', { className: 'waiting', role: 'status' }, 'Loading the engine …');
  document.body.append(waiting);
  try {
    if (!document.createElement('canvas').getContext('webgl2')) {
      throw new Error('it draws with WebGL 2, which this browser lacks or has switched off. Switch on hardware acceleration in its settings, or try another browser.');
    }
    const poise = await load();
    waiting.remove();
    const app = new App(poise, document.body);
    await app.opener.open(new URL(location.href));
    (globalThis as { studio?: unknown }).studio = probeOf(app);
  } catch (error) {
    waiting.textContent = `Poise studio could not start: ${error instanceof Error ? error.message : String(error)}`;
    waiting.classList.add('failed');
    console.info(error);
  }
}

void begin();
