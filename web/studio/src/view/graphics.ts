/** What draws: a graphics card, or the processor in its place. */
import type * as THREE from 'three';

/** Is everything to be drawn plainly? So it is where the processor draws; ?light=full or plain in the address says otherwise. */
export function drawsPlainly(renderer: THREE.WebGLRenderer): boolean {
  const wish = new URLSearchParams(location.search).get('light');
  if (wish === 'full' || wish === 'plain') {
    return wish === 'plain';
  }
  const gl = renderer.getContext();
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  return /swiftshader|llvmpipe|softpipe|software/i.test(String(names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : ''));
}
