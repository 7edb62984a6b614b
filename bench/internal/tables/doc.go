// Package tables has what the tables of the benchmarks share: figures as text, Markdown and JSON,
// and defaults of options.
package tables
