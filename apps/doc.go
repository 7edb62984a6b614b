// Package apps holds graph workflows. Most have a pipeline of the operations of package ops that
// reads like its mathematics, in the file of the workflow; what makes some of them fast, kernels of
// the host and of devices and divisions among ranks, stands in files beside it:
//
//	Projection, ProjectionTo   graphs of the shared neighbours of a bipartite graph
//	VertexNomination, Rank     distances to the nearest of some seeds
//	Classify                   where a pattern with features may be in a data graph
//	LocalCluster, Clusterer    clusters around seeds, by ℓ1-regularised PageRank
//	Communities, Modularity    communities by the methods of Louvain and Leiden
//	SGM                        seeded graph matching
//	BFS, SSSP                  breadth-first search, shortest paths
//	PageRank                   ranks of a random walk
//	ConnectedComponents        components
//	TriangleCount, KTruss      triangles, and the subgraphs held together by them
//	ScanStatistics, ScanSeries the edges around each vertex, and their anomalies over time
//	Geolocate                  places of vertices from those of their neighbours
//	GraphSearch                walks that look for vertices of high score
//	GraphSAGE, TrainGraphSAGE  embeddings of vertices by features and neighbours
//	FusedLasso                 piecewise constant values on a graph; FusedLassoPath, FusedLassoBatch
//	MaxFlow                    maximum flow and minimum cut
//	StronglyConnectedComponents, CoreNumbers, TopologicalOrder, Diameter
//	Betweenness, Closeness, HITS, EigenvectorCentrality, KatzCentrality, WeightedPageRank
//	LocalClustering            clustering coefficients
//	LabelPropagation           communities as Graphalytics defines them
//	MaximalIndependentSet, Colouring
//	Similarity                 the most similar rows of each row
//	MinimumSpanningForest, BipartiteMatching
//	NominateVertices           vertices ranked by context and content
//
// Every function takes its graph as a matrix, an edge from row to column. Settings are the last
// parameter: a struct whose zero value is the usual choice, and which may be left out. Two values
// are a *ParameterError. The embedded [Run] bounds threads, carries a context and reports progress.
//
//	levels, err := apps.BFS(graph, 0, apps.BFSOptions{Run: apps.Run{Threads: 4}})
//
// A workflow runs where its graph lives, on the host or on a device, and makes its results there.
// Between operations single numbers come to the host, such as a count of entries. Exceptions:
//
//   - The pipelines of FusedLasso, Communities and Geolocate compute on the host.
//   - MaxFlow keeps the excesses on the host, and GraphSAGE the features.
//   - SGM solves its assignments where package auction does, and repairs the matching on the host.
//   - LocalCluster sweeps over the cluster on the host.
//   - MinimumSpanningForest and the augmenting paths of BipartiteMatching compute on the host.
//   - Similarity, TopologicalOrder and NominateVertices order their results on the host, and
//     Diameter keeps the bounds of its vertices there.
//
// Some workflows have a kernel for the host that is faster than their pipeline. Method Auto uses it
// for a graph on the host, and Pipeline runs the operations. MinimumSpanningForest,
// TopologicalOrder and SGM have more loops than operations in any form. Some have a fused form for
// devices, in files *_gpu.go with the kernels in kernels/*.cu; Run.Method chooses.
//
// Bad input gives typed errors that name the argument and the remedy. Those about vertices,
// [VertexError], take the names of the vertices. Counts and distances do not overflow in silence:
// counts of shortest paths have exponents of their own, distances beyond the largest float are
// +Inf, and integers that cannot hold the result are an error. [List] lists the workflows
// for tools. docs/standard.md compares the standard set with other libraries, docs/workflows.md
// explains how to write a workflow.
package apps
