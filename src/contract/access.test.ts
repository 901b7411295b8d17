import { expect, test } from 'vitest'
import { mayUse, ROLES, rolesFor, seesSecrets } from './access.ts'

test('workers and admins see secrets, nobody else (1)', () => {
  expect(ROLES.filter(seesSecrets)).toEqual(['admin', 'worker'])
})

test('every role may look (2)', () => {
  expect(ROLES.every((role) => mayUse(role, 'viewer') && mayUse(role, 'public'))).toBe(true)
})

test('only admins change access', () => {
  expect(ROLES.filter((role) => mayUse(role, 'admin') || mayUse(role, 'internal'))).toEqual(['admin'])
})

test('a worker does the work and manages nothing', () => {
  expect(mayUse('worker', 'worker') && mayUse('worker', 'run')).toBe(true)
  expect(mayUse('worker', 'operator') || mayUse('worker', 'admin')).toBe(false)
})

test('roles are named as in a sentence', () => {
  expect(rolesFor('admin')).toBe('admin')
  expect(rolesFor('operator')).toBe('operator or admin')
  expect(rolesFor('run')).toBe('operator, admin or worker')
})
