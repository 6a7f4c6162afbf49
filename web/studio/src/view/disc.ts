/** A white disc, so that points are round. */
import * as THREE from 'three';

export function disc(): THREE.Texture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const g = canvas.getContext('2d') as CanvasRenderingContext2D;
  g.fillStyle = '#ffffff';
  g.arc(16, 16, 15, 0, 2 * Math.PI);
  g.fill();
  return new THREE.CanvasTexture(canvas);
}
