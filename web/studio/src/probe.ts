/** For tests in a browser, and its console: what cannot be read off the page. */
import type { Method, Vec3 } from 'poise-ik';
import type { App } from './app.js';
import { keptWorkers } from './loading/parts.js';
import { pathOf } from './plots/race.js';

export function probeOf(app: App) {
  return {
    state: () => app.session?.save(),
    settled: () => app.isSettled,
    errors: () => app.session?.last.errors ?? [],
    last: () => app.session?.last,
    title: () => app.session?.stage.title,
    tip: (target: number) => {
      const t = app.session?.targets[target];
      return t ? app.session?.kinematics.point(t.body, t.local.position) : null;
    },
    project: (point: readonly number[]) => app.viewport.project(point),
    withinLimits: () => app.session?.model.isWithinLimits(app.session.q),
    live: () => (app.live ? { shown: app.live.shown, time: app.live.time, ghost: app.live.ghost?.last ?? null } : null),
    frameTimes: () => [...app.frameTimes],
    path: (method: Method) => app.session && pathOf(app.session, method)?.map((q) => Array.from(q)),
    heap: () => app.poise.heap,
    rests: () => app.loop.isAtRest,
    graphics: () => ({ ...app.viewport.renderer.info.memory, drawn: app.viewport.renderer.info.render.frame }),
    look: () => ({ look: app.viewport.look, meshes: app.viewport.meshCount, pictures: app.viewport.pictureCount, box: app.viewport.bodyBox }),
    bones: () => app.viewport.bonesDrawn,
    showsBones: () => app.viewport.showsBones,
    ground: () => app.viewport.ground,
    size: () => app.session?.size(),
    standing: () => app.session?.standing(),
    bodies: () => {
      const { model, kinematics } = app.session!;
      return Object.fromEntries(model.joints.flatMap(({ name, body, index }) => [name, body].map((key) => [key, kinematics.bodyPose(index).position])));
    },
    metres: () => app.session?.stage.scale.metres,
    up: () => app.session?.stage.scale.up,
    markerError: () => app.session?.markerError(),
    view: () => ({ isFlat: app.viewport.eye.isFlat, from: app.viewport.camera.position.clone().sub(app.viewport.eye.orbit.target).normalize().toArray(), step: app.viewport.handles.step }),
    marker: (i: number) => app.viewport.project(Array.from(app.session!.markerPoints().slice(3 * i, 3 * i + 3))),
    answers: () => app.answers.count,
    tour: () => app.guide?.step ?? -1,
    reach: () => app.reach.count,
    measured: () => app.measure.value,
    frames: () => app.viewport.frameAxes,
    trails: () => app.viewport.markers.trailPieces,
    near: () => app.session!.near.map(({ pair, distance }) => ({ names: app.session!.collisions!.nameOf(pair), distance })),
    selected: () => app.viewport.handles.selected,
    tinted: () => app.viewport.tinted.map((body) => app.session!.model.joints[body]!.body).sort(),
    shapes: () => app.viewport.shapesDrawn,
    misses: () => app.viewport.markers.missPieces,
    accompany: (seconds: number) => (app.viewport.accompany(seconds), app.viewport.eye.orbit.target.toArray()),
    moveGoal: (index: number, position: Vec3, done = true) => {
      app.session!.targets[index]!.position = position;
      app.goals.drag(index, done);
    },
    keptWorkers,
    switchTheme: () => app.switchTheme(),
  };
}
