/**
 * Volumes as arguments of the runtime: `host:container[:ro]` as text, `{source, target, read_only}`, or the two lists of a
 * pod (`volumes` with `host_path` or `empty_dir`, `volume_mounts` with `mount_path`).
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { booleanField, isGiven, textField } from '../coerce.ts'

const listOf = (value: Json | undefined, field: string): readonly Json[] => {
  if (!isGiven(value) || value === '') return []
  if (Array.isArray(value)) return value as readonly Json[]
  throw configFailure(`${field} must be a list`)
}

const bind = (source: string, target: string, readOnly: boolean): readonly string[] => {
  if (!target.startsWith('/'))
    throw configFailure(`A volume must be mounted at an absolute path, not ${target}`)
  return ['--volume', `${source}:${target}${readOnly ? ':ro' : ''}`]
}

const hostPathOf = (volume: JsonObject): string | null => {
  const path = volume['host_path'] ?? volume['hostPath']
  return isObject(path) ? textField(path, 'path') : textField({ path: path ?? null }, 'path')
}

const isEmptyDirectory = (volume: JsonObject): boolean => 'empty_dir' in volume || 'emptyDir' in volume

const mountOf = (volume: JsonObject, mount: JsonObject): readonly string[] => {
  const target = textField(mount, 'mount_path', 'mountPath', 'target')
  if (target === null) throw configFailure('An entry of volume_mounts needs `mount_path`')
  if (isEmptyDirectory(volume)) return ['--tmpfs', target]
  const source = hostPathOf(volume)
  if (source !== null) return bind(source, target, booleanField(mount, false, 'read_only', 'readOnly'))
  throw configFailure(`The volume ${textField(volume, 'name') ?? ''} needs host_path or empty_dir here`)
}

const volumeOf = (volume: Json, mounts: readonly JsonObject[]): readonly string[] => {
  if (typeof volume === 'string') {
    if (!/^[^:]+:\/[^:]*(?::\w+)?$/.test(volume)) {
      throw configFailure(`A volume is written host:container, such as ./data:/data, not ${volume}`)
    }
    return ['--volume', volume]
  }
  if (!isObject(volume)) throw configFailure('A volume must be text or a mapping')
  const target = textField(volume, 'target', 'mount_path')
  const source = textField(volume, 'source') ?? hostPathOf(volume)
  if (target !== null && source !== null)
    return bind(source, target, booleanField(volume, false, 'read_only'))
  const name = textField(volume, 'name')
  return mounts
    .filter((mount) => textField(mount, 'name') === name)
    .flatMap((mount) => mountOf(volume, mount))
}

export const volumeArguments = (config: JsonObject): readonly string[] => {
  const mounts = listOf(config['volume_mounts'], 'volume_mounts').filter(isObject)
  return listOf(config['volumes'], 'volumes').flatMap((volume) => volumeOf(volume, mounts))
}
