// flows.cpp: maximum flows by Kolmogorov's library (Debian's libmaxflow) and, with HB_SERIAL, fused
// lassos by the serial solver of ../shared/peers/fusedlasso, in the line protocol of
// ../suitesparse/main.c. Times are those of one thread.
//
//   run maxflow NAME SOURCE SINK [edges]   the library's graph is made within the time, as ours is;
//                                          extra: build, the milliseconds of that
//   run fusedlasso NAME LAMBDA VALUES      VALUES: a file of float64, one a vertex; extra: regions
//   run fusedlasso_split NAME LAMBDA VALUES  the same, where sides of a cut are cut into components

#include <maxflow.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef HB_SERIAL
#define G SerialGraph
#include "dnc.cpp"
#undef G
#endif

namespace {

struct Loaded {
  int64_t rows = 0, entries = 0;
  std::vector<int64_t> ptr;
  std::vector<int32_t> idx;
  std::vector<double> value;
};

std::map<std::string, Loaded> graphs;

double milliseconds() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

template <typename T>
std::vector<T> take(std::ifstream &f, int64_t n) {
  std::vector<T> x(n);
  f.read(reinterpret_cast<char *>(x.data()), n * sizeof(T));
  if (!f) throw std::runtime_error("the file is too short");
  return x;
}

Loaded load(const std::string &path) {
  std::ifstream f(path, std::ios::binary);
  char magic[8];
  if (!f.read(magic, 8) || std::string(magic, 8) != "HBCSR01\n") throw std::runtime_error(path + " is no graph");
  const auto head = take<int64_t>(f, 4);
  Loaded g;
  g.rows = head[0], g.entries = head[2];
  g.ptr = take<int64_t>(f, g.rows + 1);
  g.idx = take<int32_t>(f, g.entries);
  g.value = head[3] ? take<double>(f, g.entries) : std::vector<double>(g.entries, 1.0);
  return g;
}

const Loaded &find(const std::string &name) {
  const auto g = graphs.find(name);
  if (g == graphs.end()) throw std::runtime_error("no graph is called " + name);
  return g->second;
}

// Edges of the source and to the sink are what the library calls terminal weights.
std::string flow(std::istream &words) {
  std::string name;
  int64_t source, sink;
  if (!(words >> name >> source >> sink)) throw std::runtime_error("usage: run maxflow NAME SOURCE SINK");
  const Loaded &g = find(name);
  double sum = 0;
  for (double c : g.value) sum += std::isinf(c) ? 0 : c;
  const double start = milliseconds();
  maxflow::Graph<double, double, double> net(g.rows, g.entries);
  net.add_node(g.rows);
  for (int64_t i = 0; i < g.rows; i++)
    for (int64_t p = g.ptr[i]; p < g.ptr[i + 1]; p++) {
      const int64_t j = g.idx[p];
      const double c = std::isinf(g.value[p]) ? sum + 1 : g.value[p];
      if (i == j || j == source || i == sink) continue;
      if (i == source && j == sink) throw std::runtime_error("an edge from the source to the sink");
      if (i == source) net.add_tweights(j, c, 0);
      else if (j == sink) net.add_tweights(i, 0, c);
      else net.add_edge(i, j, c, 0);
    }
  const double built = milliseconds();
  const double value = net.maxflow();
  const double end = milliseconds();
  char text[200];
  std::snprintf(text, sizeof text, "ms %.6f check %.17g build %.6f", end - start, value, built - start);
  return text;
}

#ifdef HB_SERIAL
std::string lasso(std::istream &words, bool split) {
  std::string name, path;
  double lambda;
  if (!(words >> name >> lambda >> path)) throw std::runtime_error("usage: run fusedlasso NAME LAMBDA VALUES");
  const Loaded &g = find(name);
  SerialGraph s;
  s.n = g.rows;
  for (int64_t i = 0; i < g.rows; i++)
    for (int64_t p = g.ptr[i]; p < g.ptr[i + 1]; p++) s.eu.push_back(i), s.ev.push_back(g.idx[p]);
  s.build();
  std::ifstream f(path, std::ios::binary);
  s.y = take<double>(f, g.rows);
  const double start = milliseconds();
  const auto found = dnc(s, lambda, nullptr, split);
  const double end = milliseconds();
  char text[200];
  std::snprintf(text, sizeof text, "ms %.6f check %.17g regions %d", end - start, objective(s, lambda, found.b), regions(s, found.b, 1e-9));
  return text;
}
#endif

std::string answer(const std::string &line) {
  std::istringstream words(line);
  std::string command, name, path;
  words >> command;
  if (command == "load" && words >> name >> path) {
    graphs[name] = load(path);
    return "ok " + name;
  }
  if (command == "free" && words >> name) {
    graphs.erase(name);
    return "ok " + name;
  }
  if (command == "threads") return "ok 1";
#ifdef HB_SERIAL
  if (command == "version") return "ok libmaxflow 3.0 and serial fused lasso";
  if (command == "cases") return "ok maxflow fusedlasso fusedlasso_split";
#else
  if (command == "version") return "ok libmaxflow 3.0";
  if (command == "cases") return "ok maxflow";
#endif
  if (command == "run" && words >> name) {
    if (name == "maxflow") return flow(words);
#ifdef HB_SERIAL
    if (name == "fusedlasso" || name == "fusedlasso_split") return lasso(words, name == "fusedlasso_split");
#endif
    return "err no case is called " + name;
  }
  return "err no command is called " + line;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    try {
      std::cout << answer(line) << std::endl;
    } catch (const std::exception &e) {
      std::cout << "err " << e.what() << std::endl;
    }
  }
}
