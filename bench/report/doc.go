// Package report measures whole workflows beside their peers, by size and in blocks, and writes the
// report with its pictures. SGM measures seeded graph matching beside the true matching.
package report
