// All tests of the studio in one browser: node --test test/studio.mjs, with POISE, STUDIO, CHROMIUM and SHOTS in the environment.
// PARTS names some of the files here: only those.
import { after, before } from 'node:test';
import { start, stop } from './browser.mjs';

const ALL = ['scenes', 'goals', 'methods', 'files', 'saving', 'frames', 'joints', 'code', 'work', 'recordings', 'bodies', 'robots', 'characters', 'manners', 'live', 'page', 'views'];

before(start);
after(stop);
for (const part of process.env.PARTS ? process.env.PARTS.split(' ') : ALL) {
  await import(`./${part}.mjs`);
}
