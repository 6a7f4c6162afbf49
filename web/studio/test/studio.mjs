// All tests of the studio in one browser: node --test test/studio.mjs, with POISE, STUDIO, CHROMIUM and SHOTS in the environment.
import { after, before } from 'node:test';
import { start, stop } from './browser.mjs';

before(start);
after(stop);
await import('./scenes.mjs');
await import('./goals.mjs');
await import('./methods.mjs');
await import('./files.mjs');
await import('./saving.mjs');
await import('./joints.mjs');
await import('./code.mjs');
await import('./work.mjs');
await import('./recordings.mjs');
await import('./bodies.mjs');
await import('./manners.mjs');
await import('./live.mjs');
await import('./page.mjs');
