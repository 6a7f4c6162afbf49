/** Names in a glTF, without reading all of it. */

const GLB = 0x46546c67; // "glTF"

/** The JSON of a glTF, or of the first chunk of a GLB. */
function textOf(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isBinary = bytes.length > 20 && view.getUint32(0, true) === GLB;
  return new TextDecoder().decode(isBinary ? bytes.subarray(20, 20 + view.getUint32(12, true)) : bytes);
}

/** What its animations are called; those without a name by their number. */
export function animationsIn(bytes: Uint8Array): string[] {
  const { animations = [] } = JSON.parse(textOf(bytes)) as { animations?: { name?: string }[] };
  return animations.map(({ name }, i) => name || `Animation ${i + 1}`);
}
