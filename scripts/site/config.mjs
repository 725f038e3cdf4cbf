// The site: docs/ as pages with search, by VitePress. Nothing is loaded from
// elsewhere when it is read; fonts, styles, scripts and the index of words are files of the site.
import { readFileSync, readdirSync } from 'node:fs'

const page = (text, link) => ({ text, link: '/' + link })
const learners = readdirSync('docs/learners').filter(f => f.endsWith('.md') && f !== 'index.md').map(f => page(f.slice(0, -3), 'learners/' + f.slice(0, -3)))

export default {
  title: 'Accrete',
  description: 'Learning that people can read, correct and keep',
  lang: 'en',
  cleanUrls: false,
  lastUpdated: false,
  ignoreDeadLinks: [/\.(go|ipynb|py|rules|sh)$/], // files, which scripts/site/build lays beside the pages, and scripts/site/links looks for
  head: [['link', { rel: 'icon', href: 'data:,' }], ['style', {}, '.dark .vp-doc img { background: #fff; border-radius: 8px; padding: 8px }']], // pictures are drawn on white
  // Comparisons such as a<b, and {{ }}, are text here, never tags of a template.
  markdown: { html: false, languages: [{ ...JSON.parse(readFileSync('docs/how-to/editors/rules.tmLanguage.json', 'utf8')), name: 'rules', aliases: ['wrong'] }], attrs: { disable: true }, config: md => {
    md.renderer.rules.code_block = (tokens, i, ...more) => { tokens[i].info = 'txt'; return md.renderer.rules.fence(tokens, i, ...more) } // which scrolls
    md.renderer.rules.text = (tokens, i) => '<span v-pre>' + md.utils.escapeHtml(tokens[i].content) + '</span>'
  } },
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true } },
    outline: [2, 3],
    nav: [page('First steps', 'first-steps'), page('How to', 'how-to/tables'), page('Learners', 'learners/'), page('Reference', 'reference/commands')],
    sidebar: [
      { text: 'Begin', items: [page('All documents', ''), page('First steps', 'first-steps'), page('The life of a model', 'story'), page('Read a model', 'reading')] },
      { text: 'How to', collapsed: true, items: [page('Read a table', 'how-to/tables'), page('Data as you keep it', 'how-to/data'), page('Rows from anywhere', 'how-to/sources'), page('Judge', 'how-to/judge'), page('Decide', 'how-to/decide'), page('Correct a model', 'how-to/correct'), page('Write rules in an editor', 'how-to/editors'), page('Tune, and weigh columns', 'how-to/tune'), page('Keep learning', 'how-to/keep-learning'), page('Draw', 'how-to/draw'), page('Run a model elsewhere', 'how-to/elsewhere'), page('Serve', 'how-to/serve'), page('From Go', 'how-to/go'), page('From Python', 'how-to/python')] },
      { text: 'Learners', collapsed: true, items: [page('Every learner', 'learners/'), page('Which learner when', 'choosing'), page('Learners worth knowing', 'learners'), page('Side by side', 'benchmark'), ...learners] },
      { text: 'Reference', collapsed: true, items: [page('Commands', 'reference/commands'), page('Settings', 'reference/settings'), page('The rule language', 'rule-language'), page('JSON', 'reference/json'), page('Programs', 'reference/program'), page('The store', 'store'), page('What it is built on', 'dependencies')] },
      { text: 'Why it works', collapsed: true, items: [page('Rules are evidence', 'why/evidence'), page('Experts', 'why/experts'), page('More rows without the old ones', 'why/exact'), page('Any column from any others', 'why/joint'), page('Growth', 'why/growth'), page('Numbers that hold', 'why/honest'), page('Permuted columns', 'why/permuted'), page('How fast', 'why/fast'), page('What the sources describe', 'coverage')] },
      { text: 'Examples', collapsed: true, items: [page('Examples', 'examples/'), page('SQL only', 'examples/sql-only'), page('A worksheet', 'examples/worksheet')] },
    ],
  },
}
