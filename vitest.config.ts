import { defineConfig } from 'vitest/config'

/** The suffix tells the cost: `.test.ts` needs nothing, `.pg.test.ts` a PostgreSQL, `test/e2e` whole processes. */
export default defineConfig({
  test: {
    // Half of the time a test waits for PostgreSQL or a process; a processor kept free would be idle.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'test/*.test.ts',
            'test/conformance/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: ['**/*.pg.test.ts'],
          globalSetup: ['test/support/system-packages.ts'],
        },
      },
      {
        test: {
          name: 'pg',
          include: [
            'src/**/*.pg.test.ts',
            'test/*.pg.test.ts',
            'test/{conformance,examples}/**/*.pg.test.ts',
          ],
          globalSetup: ['test/support/system-packages.ts', 'test/support/postgres-global.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/system-packages.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
