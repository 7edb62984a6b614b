// Package collectives measures memory, latency, copies and collectives of the GPUs of a machine,
// for the table of package comm/commtable.
package collectives
