/** How the page looks, by day and by night. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #ffffff; --line: #e4e4e0; --ink: #1d2126; --soft: #646b74; --code: #f3f3f0;
  --accent: #3257c9; --get: #1f7a4d; --post: #2f5bd0; --put: #9a5b00; --delete: #b3261e; --patch: #7a3fb0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --card: #1b1f23; --line: #2d3338; --ink: #e6e8ea; --soft: #98a1aa; --code: #22272c;
    --accent: #8aa8ff; --get: #5fcf97; --post: #86a9ff; --put: #e9b35a; --delete: #ff8a80; --patch: #c79bf2;
  }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
html { scroll-padding-top: 1rem }
body {
  margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); min-height: 100vh;
  background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, sans-serif;
}
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: .87em }
code { overflow-wrap: anywhere }
small { color: var(--soft); font-weight: 400; font-size: .82em }

aside {
  position: sticky; top: 0; height: 100vh; overflow: hidden auto; padding: 1.25rem 1rem 2rem;
  border-right: 1px solid var(--line); background: var(--card); scrollbar-width: thin;
}
.brand { display: block; color: var(--ink); font-size: 1.1rem; margin-bottom: .9rem }
#search {
  width: 100%; padding: .45rem .7rem; border: 1px solid var(--line); border-radius: 8px;
  background: var(--ground); color: inherit; font: inherit; font-size: .9rem;
}
#search:focus { outline: 2px solid var(--accent); outline-offset: -1px }
nav { margin-top: 1rem }
nav a { display: block; padding: .13rem 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); font-size: .84rem }
nav a:hover { color: var(--ink); text-decoration: none }
nav .tag { margin-top: 1rem; color: var(--ink); font-weight: 600; font-size: .78rem; letter-spacing: .06em; text-transform: uppercase }

main { padding: 2.2rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 84rem; width: 100% }
h1 { margin: 0 0 .6rem; font-size: 2rem; letter-spacing: -.02em }
h2 { margin: 0; font-size: 1.25rem; text-transform: capitalize; letter-spacing: -.01em }
header p { max-width: 46rem; margin: .5rem 0 }
section { margin-top: 2.6rem }
section > p { margin: .2rem 0 .9rem; color: var(--soft) }
.tools { display: flex; gap: 1.2rem; align-items: center }
button {
  padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card);
  color: inherit; font: inherit; font-size: .9rem; cursor: pointer;
}
button:hover { border-color: var(--accent) }

.operation { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: .5rem 0 }
.operation[open] { box-shadow: 0 4px 18px rgb(0 0 0 / .06) }
.operation > summary {
  display: flex; flex-wrap: wrap; gap: .35rem .75rem; align-items: center; padding: .6rem .9rem;
  cursor: pointer; list-style: none;
}
summary::-webkit-details-marker { display: none }
.operation > summary:hover { background: color-mix(in srgb, var(--accent) 5%, transparent); border-radius: 10px }
.deprecated > summary { opacity: .62 }
.method { font: 700 .7rem/1 ui-monospace, monospace; text-transform: uppercase; flex: none }
.operation > summary .method {
  width: 4.2rem; text-align: center; padding: .38rem 0; border-radius: 6px;
  background: color-mix(in srgb, currentColor 12%, transparent);
}
nav .method { display: inline-block; width: 3rem; font-size: .6rem }
.get { color: var(--get) } .post { color: var(--post) } .put { color: var(--put) }
.delete { color: var(--delete) } .patch { color: var(--patch) }
.path { font-weight: 600; font-size: .93rem }
.path i { color: var(--accent); font-style: normal; font-weight: 500 }
.summary { color: var(--soft); flex: 1; min-width: 12rem }
.badge, .role {
  padding: .08rem .5rem; border: 1px solid var(--line); border-radius: 99px; color: var(--soft); font-size: .75rem;
}

.body {
  display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 2rem;
  padding: .3rem 1.2rem 1.4rem; border-top: 1px solid var(--line);
}
.what > p { margin: .8rem 0 0 }
.access-line { color: var(--soft); font-size: .86rem }
h4 { margin: 1.2rem 0 .4rem; font-size: .78rem; letter-spacing: .06em; text-transform: uppercase }
h4 small { text-transform: none; letter-spacing: 0; margin-left: .3rem }
.how { min-width: 0 }
pre {
  margin: 0; padding: .8rem 1rem; overflow: auto; max-height: 30rem; background: var(--code);
  border-radius: 8px; line-height: 1.5; scrollbar-width: thin;
}

.copy { float: right; padding: .05rem .55rem; font-size: .75rem; letter-spacing: 0; text-transform: none }

.fields { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line) }
.fields li { padding: .38rem 0; border-bottom: 1px solid var(--line); font-size: .88rem }
.fields .fields { margin: .35rem 0 0 .2rem; padding-left: .9rem; border-top: 0; border-left: 2px solid var(--line) }
.fields .fields li:last-child { border-bottom: 0 }
.fields summary { cursor: pointer; list-style: none }
.fields summary::after { content: ' ▸'; color: var(--soft) }
.fields details[open] > summary::after { content: ' ▾' }
.name { font-weight: 600; margin-right: .5rem }
.required { color: var(--delete); font-size: .72rem; margin-right: .5rem }
.sometimes { color: var(--soft); font-size: .72rem; margin-right: .5rem }
.type, .note { color: var(--soft); font-size: .84rem }
.note { margin-left: .5rem }
.note code { background: var(--code); padding: .05rem .3rem; border-radius: 4px }
.text { display: block; color: var(--soft) }
.form { margin-top: .6rem }
.form-words { margin: 0; color: var(--soft); font-size: .88rem }
.form-name { margin: 0 0 .2rem; font-size: .84rem; font-weight: 600 }
.status { font: 600 .8rem ui-monospace, monospace; color: var(--soft) }
.status.ok { color: var(--get) }
.problems > summary { cursor: pointer; list-style: none }
.problems > summary h4 { display: inline-block }
.problems > summary::after { content: ' ▸'; color: var(--soft) }
.problems[open] > summary::after { content: ' ▾' }
.problems ul { list-style: none; margin: 0; padding: 0; font-size: .86rem; color: var(--soft) }
.problems li { padding: .2rem 0 }
.problems code { color: var(--ink) }

@media (max-width: 62rem) {
  .body { grid-template-columns: minmax(0, 1fr); gap: 0 }
}
@media (max-width: 48rem) {
  body { display: block }
  aside { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding-bottom: 1rem }
  nav { display: none }
}
@media print {
  aside, .tools { display: none }
  body { display: block }
}
`
