// Bundles the extension into dist/extension.js; with --tests, each test into dist-test/, with test/vscode.ts in place of the API of VS Code.
import { readdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const common = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };

if (process.argv.includes('--tests')) {
  rmSync('dist-test', { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: readdirSync('test').filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`),
    outdir: 'dist-test',
    sourcemap: 'inline',
    alias: { vscode: './test/vscode.ts' },
    external: ['playwright-core'],
  });
} else {
  rmSync('dist', { recursive: true, force: true });
  await build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js', external: ['vscode'], minify: true });
}
