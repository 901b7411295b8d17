/** What a single tool needs to have looked up before it can run; null when that is nothing, which is the usual case. */
import type { LeasedCommand } from '../../contract/command.ts'
import { isObject } from '../../contract/json.ts'
import { latePaths } from '../late-templates.ts'
import { type KeychainUse, keychainUse, valueAt } from './keychain.ts'
import { namesCredentials } from './named-credentials.ts'

/** The names that its templates read from the keychain; names in `auth` are looked up when the block is rendered. */
export const secretNeeds = ({ context, meta, toolKind }: LeasedCommand): KeychainUse['aliases'] | null => {
  const { tool_config: block } = context
  if (!isObject(block)) return null
  const late = latePaths(meta)
  const use = late.length === 0 ? null : keychainUse(late.map((path) => valueAt(block, path)))
  if (use?.isRead === true) return use.aliases
  return namesCredentials(toolKind, block) ? [] : null
}
