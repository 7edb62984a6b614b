package apps

import (
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/matrix"
)

// ScanHops is the radius of the neighbourhoods of a scan statistic. See [scan.ScanHops].
type ScanHops = scan.ScanHops

// ScanOneHop counts the edges among a vertex and its neighbours: the default.
const ScanOneHop = scan.ScanOneHop

// ScanDegree counts the edges of the vertex itself, its degree: radius 0.
const ScanDegree = scan.ScanDegree

// ScanTwoHops counts the edges among the vertices at most two edges away.
const ScanTwoHops = scan.ScanTwoHops

// ScanOptions are the settings of ScanStatistics. See [scan.ScanOptions].
type ScanOptions = scan.ScanOptions

// ScanResult is the result of ScanStatistics. See [scan.ScanResult].
type ScanResult = scan.ScanResult

// ScanStatistics returns the locality statistic of every vertex of g and their maximum, the scan
// statistic (Priebe, Conroy, Marchette, Park: Scan statistics on Enron graphs, Computational and
// Mathematical Organization Theory 11, 2005): the number of edges of the subgraph that the vertices
// within k hops of v induce, v included. See [scan.ScanStatistics].
func ScanStatistics[T comparable](g matrix.Source[T], opts ...ScanOptions) (*ScanResult, error) {
	return scan.ScanStatistics(g, opts...)
}

// TimedEdges are edges with time stamps, in any order. See [scan.TimedEdges].
type TimedEdges = scan.TimedEdges

// ScanSeriesOptions are the settings of ScanSeries. See [scan.ScanSeriesOptions].
type ScanSeriesOptions = scan.ScanSeriesOptions

// ScanSeriesResult is the result of ScanSeries. See [scan.ScanSeriesResult].
type ScanSeriesResult = scan.ScanSeriesResult

// ScanWindow is one window of a series. See [scan.ScanWindow].
type ScanWindow = scan.ScanWindow

// ScanAnomaly is a window with a score above the threshold. See [scan.ScanAnomaly].
type ScanAnomaly = scan.ScanAnomaly

// ScanVertex is a vertex in an anomalous window. See [scan.ScanVertex].
type ScanVertex = scan.ScanVertex

// ScanSeries finds the windows of a series of edges in which the neighbourhood of some vertex has
// many more edges than in its recent past (Priebe, Conroy, Marchette, Park: Scan statistics on
// Enron graphs, 2005, section 3). See [scan.ScanSeries].
func ScanSeries(e *TimedEdges, opts ...ScanSeriesOptions) (*ScanSeriesResult, error) {
	return scan.ScanSeries(e, opts...)
}
