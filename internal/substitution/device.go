package substitution

import (
	_ "embed"
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
)

//go:embed kernels/substitution.cu
var text string

// Measured on an H200 with one right side, as are lanes and rows in flight
// (bench/results/2026-11-29-spsv-h200.txt). A warp that waits does not sleep: naps of 20 to 500 ns
// took as long or longer.
const (
	unroll = 4   // entries that a lane reads at once
	block  = 256 // threads of a block
	warp   = 32
	byLane = 2  // mean entries of a row for each lane
	most   = 64 // entries of the longest row for each lane
	waves  = 8  // levels of rows that run at the same time
)

func init() {
	device.Describe("substitution", func(t device.Type) []device.Program {
		if !t.Float() {
			return nil
		}
		return []device.Program{program(t)}
	})
}

func program(t device.Type) device.Program {
	bits := "hb_u64"
	if t.Size == 4 {
		bits = "hb_u32"
	}
	return device.Program{File: "substitution", Of: "triangular solves over " + t.Go, Body: text,
		Types: []device.Typedef{{Name: "HB_T", Type: t}}, Defines: map[string]any{"HB_UNROLL_ROW": unroll, "HB_BITS": bits}}
}

// Triangle is a triangular matrix on a device, as the kernel reads it.
type Triangle struct {
	Rows     rep.View // sorted by levels, without the diagonal
	Diagonal rep.View // sorted likewise; not read if Unit
	Order    rep.View // the rows before they were sorted, of int32
	Unit     bool
	Lanes    int // that divide a row for one right side, a power of two up to 32
	InFlight int // rows that run at the same time
}

// Shape sets Lanes and InFlight by the levels and the rows of a matrix.
func (t *Triangle) Shape(l Levels, ptr []int64) {
	var longest int64
	for i := range l.Order {
		longest = max(longest, ptr[i+1]-ptr[i])
	}
	rows := int64(max(len(l.Order), 1))
	share := max((ptr[len(ptr)-1]+byLane*rows-1)/(byLane*rows), (longest+most-1)/most, 1)
	t.Lanes = min(powerOfTwo(int(min(share, warp))), warp)
	t.InFlight = int(waves*l.Width()) + 1
}

// powerOfTwo returns the least power of two that is at least n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// Solve solves systems one after another: the solution of a system is the right side of the next.
// The first right side is a vector of n items if columns is 0, else a matrix of so many columns.
// The triangles are at the device and have one type.
func Solve(at device.Runner, op string, list []*Triangle, n, columns int, right device.Operand) (solution device.Store, err error) {
	var rows, diagonals, orders []device.Operand
	for _, t := range list {
		m, err := t.Rows.Operand(at)
		if err != nil {
			return nil, err
		}
		order, err := t.Order.Operand(at)
		if err != nil {
			return nil, err
		}
		var d device.Operand
		if !t.Unit {
			if d, err = t.Diagonal.Operand(at); err != nil {
				return nil, err
			}
		}
		rows, diagonals, orders = append(rows, m), append(diagonals, d), append(orders, order)
	}
	err = at.Run(device.Call{Op: op}, func(s *device.Session) {
		x := s.Dense(right)
		for k, t := range list {
			m, order := s.Rows(rows[k]), s.Dense(orders[k])
			var d device.View
			if !t.Unit {
				d = s.Dense(diagonals[k])
			}
			to := t.queue(s, m, d.Val, order.Val, x, n, columns)
			if k > 0 {
				s.Drop(x)
			}
			x = to
		}
		solution = s.Result(x, int64(n)*int64(max(columns, 1)))
	})
	return solution, err
}

// queue queues the kernel, and returns the solution.
func (t *Triangle) queue(s *device.Session, m device.View, diagonal, order device.Buffer, b device.View, n, columns int) device.View {
	shape := [2]int{n, columns}
	if columns == 0 {
		shape, columns = [2]int{1, n}, 1
	}
	x := s.NewFull(shape[0], shape[1], m.Type)
	items := int64(n) * int64(columns)
	if items == 0 || s.Err() != nil {
		return x
	}
	bytes := items * int64(m.Type.Size)
	solved, ticket := s.Alloc(bytes), s.Zeros(8)
	s.Fill(solved, 0xFF, bytes)
	kernel := s.Kernel(s.Program("substitution of "+m.Type.Name, func() device.Program { return program(m.Type) }), "hb_substitute")
	wide := min(powerOfTwo(columns), warp)
	lanes := min(t.Lanes*wide, warp)
	chunks := int64(columns+wide-1) / int64(wide)
	warps := (min(int64(t.InFlight), int64(n))*chunks*int64(lanes) + warp - 1) / warp
	blocks := min((warps*warp+block-1)/block, int64(s.Resident(kernel, block)))
	s.Blocks(kernel, blocks, block, int32(n), int32(columns), int32(lanes), int32(wide), m.Ptr, m.Idx, m.Val, diagonal, order,
		b.Val, b.Present, solved, x.Val, ticket)
	s.Free(solved)
	s.Free(ticket)
	return x
}
