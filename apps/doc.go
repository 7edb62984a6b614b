// Package apps is the catalogue of the graph workflows. Its functions forward to the package of
// their family, which can be imported by itself, and its types are aliases: the fields of
// BFSOptions are on the page of paths.BFSOptions. Most workflows have a pipeline of the operations
// of package ops that reads like its mathematics; what makes some of them fast, kernels of the host
// and of devices and divisions among ranks, stands beside it in the package of the family.
//
// The workflows of the DARPA HIVE program:
//
//	classify     Classify: where a pattern with features may be in a data graph
//	geo          Geolocate: places of vertices from the places of their neighbours
//	sage         GraphSAGE, TrainGraphSAGE: embeddings of vertices by features and neighbours;
//	             training is in sage/train
//	search       GraphSearch: walks that look for vertices of high score
//	communities  Communities, Modularity, LabelPropagation
//	lgc          LocalCluster, Clusterer: clusters around seeds, by ℓ1-regularised PageRank
//	project      Projection, ProjectionTo, BipartiteMatching: bipartite graphs
//	scan         ScanStatistics, ScanSeries: the edges around each vertex, their anomalies over time
//	sgm          SGM: seeded graph matching
//	lasso        FusedLasso, FusedLassoPath, FusedLassoBatch: piecewise constant values on a graph
//	nominate     NominateVertices, NominateByMatching: vertices ranked by context and content, or by
//	             matching with a second graph
//
// The standard ones:
//
//	paths        BFS, SSSP, Diameter; VertexNomination and Rank, distances to the nearest seed
//	centrality   PageRank, WeightedPageRank, HITS, EigenvectorCentrality, KatzCentrality,
//	             Betweenness, Closeness
//	components   ConnectedComponents, StronglyConnectedComponents, MinimumSpanningForest
//	cores        CoreNumbers, KTruss
//	triangles    TriangleCount, LocalClustering, Similarity
//	sets         MaximalIndependentSet, Colouring
//	flow         MaxFlow: maximum flow and minimum cut
//	order        TopologicalOrder, ReverseCuthillMcKee
//
// A few stand on others: flow on paths, nominate on paths,
// centrality and sgm, paths and communities on
// components, search on paths, triangles on scan, sage/train on sage.
//
// Every function takes its graph as a matrix, an edge from row to column. Settings are the last
// parameter, a struct; its zero value is the usual choice, and it may be left out. Functions return
// a *ParameterError if there are two. The embedded [Run] bounds threads, carries a context and
// reports progress.
//
//	levels, err := apps.BFS(graph, 0, apps.BFSOptions{Run: apps.Run{Threads: 4}})
//
// A workflow runs where its graph lives, on the host or on a device, and makes its results there.
// Between operations single numbers come to the host, such as a count of entries. Exceptions:
//
//   - The pipelines of FusedLasso, Communities and Geolocate compute on the host.
//   - MaxFlow keeps the excesses on the host, and GraphSAGE the features.
//   - SGM solves its assignments where package auction does. It numbers colours, percolates and
//     repairs the matching on the host.
//   - LocalCluster sweeps over the cluster on the host.
//   - MinimumSpanningForest and the augmenting paths of BipartiteMatching compute on the host.
//   - Similarity, TopologicalOrder and NominateVertices order their results on the host, and
//     Diameter keeps the bounds of its vertices there.
//
// Some workflows have a kernel for the host that is faster than their pipeline. Method Auto uses it
// for a graph on the host, and Pipeline runs the operations. MinimumSpanningForest,
// TopologicalOrder and SGM have more loops than operations in any form. Some have a fused form for
// devices, in files *gpu.go of the family with the kernels in its kernels/*.cu; Run.Method chooses.
//
// Bad input gives typed errors that name the argument and the remedy. Those about vertices,
// [VertexError], take the names of the vertices. Counts and distances do not overflow in silence:
// counts of shortest paths have exponents of their own, distances beyond the largest float are
// +Inf, and integers that cannot hold the result are an error. [List] lists the workflows
// for tools. docs/standard.md compares the standard set with other libraries, docs/workflows.md
// explains how to write a workflow.
package apps
