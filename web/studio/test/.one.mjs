import { after, before } from 'node:test';
import { start, stop } from './browser.mjs';
before(start);
after(stop);
await import('./goals.mjs');
