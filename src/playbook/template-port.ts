import { parseTemplate } from '../template/parse-template.ts'
import { readSegments } from '../template/segments.ts'
export interface Template { readonly roots: ReadonlySet<string> }
export const hasTemplateSyntax = (text: string): boolean => /\{[{%#]/.test(text)
export const compileTemplate = (text: string): Template => { parseTemplate(text, readSegments(text)); return { roots: new Set() } }
export const compileCondition = (text: string): Template => { try { return compileTemplate(hasTemplateSyntax(text) ? text : `{{${text}}}`) } catch (e) { throw e } }
