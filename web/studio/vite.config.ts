import { defineConfig } from 'vite';

// The page is static and finds everything beside itself, so that any server, and any folder of one, will do.
export default defineConfig({
  base: './',
  resolve: {
    alias: [
      { find: /^poise-ik$/, replacement: new URL('../dist/index.js', import.meta.url).pathname },
      { find: /^poise-ik\//, replacement: new URL('../dist/', import.meta.url).pathname },
    ],
  },
  build: { target: 'es2022', outDir: 'dist', assetsInlineLimit: 0, chunkSizeWarningLimit: 1200 },
  server: { fs: { allow: ['..'] } },
});
