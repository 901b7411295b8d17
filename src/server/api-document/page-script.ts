/** What the page does: find operations as one types, open what a link leads to, open and close all, copy examples. */
export const PAGE_SCRIPT = `
const search = document.getElementById('search')
const nothing = document.getElementById('nothing')
const expand = document.getElementById('expand')
const operations = [...document.querySelectorAll('.operation')]
const sections = [...document.querySelectorAll('section')]
const links = [...document.querySelectorAll('nav a:not(.tag)')]

const find = () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const fits = (operation) => words.every((word) => operation.dataset.search.includes(word))
  for (const operation of operations) operation.hidden = !fits(operation)
  for (const section of sections) section.hidden = !section.querySelector('.operation:not([hidden])')
  for (const link of links) link.hidden = document.getElementById(link.hash.slice(1)).hidden
  for (const group of document.querySelectorAll('.group')) group.hidden = !group.querySelector('a:not(.tag):not([hidden])')
  nothing.hidden = sections.some((section) => !section.hidden)
}
search.addEventListener('input', find)

document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== search) {
    event.preventDefault()
    search.focus()
  }
  if (event.key === 'Escape') {
    search.value = ''
    find()
  }
})

const follow = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target && target.matches('.operation')) {
    target.open = true
    target.scrollIntoView()
  }
}
addEventListener('hashchange', follow)
follow()

document.addEventListener('click', async (event) => {
  const button = event.target.closest('.copy')
  if (!button) return
  await navigator.clipboard.writeText(button.closest('.how').querySelector('pre').textContent)
  button.textContent = 'Copied'
  setTimeout(() => { button.textContent = 'Copy' }, 1500)
})
if (navigator.clipboard) for (const button of document.querySelectorAll('.copy')) button.hidden = false

expand.addEventListener('click', () => {
  const open = operations.some((operation) => !operation.open)
  for (const operation of operations) operation.open = open
  expand.textContent = open ? 'Close all' : 'Open all'
})
`
