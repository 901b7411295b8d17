import { defineConfig } from 'vitest/config'

/**
 * Limits are there for what never ends, not for what is slow: a machine that is busy with others may take many times as
 * long as usual for anything. They stay below the minute for which tests let things wait that must be ended earlier.
 */
const PATIENCE = {
  testTimeout: 50_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000, interval: 20 } },
}

/** The suffix tells the cost: `.test.ts` needs nothing, `.pg.test.ts` a PostgreSQL, `test/e2e` whole processes. */
export default defineConfig({
  test: {
    // Half of the time a test waits for PostgreSQL or a process; a processor kept free would be idle.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          ...PATIENCE,
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
          ...PATIENCE,
          name: 'pg',
          include: [
            'src/**/*.pg.test.ts',
            'test/*.pg.test.ts',
            'test/{conformance,examples}/**/*.pg.test.ts',
          ],
          globalSetup: ['test/support/system-packages.ts', 'test/support/postgres-global.ts'],
        },
      },
      {
        test: {
          ...PATIENCE,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/system-packages.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
