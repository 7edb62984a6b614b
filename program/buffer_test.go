package program

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// efficiency counts what a warp with a vertex a lane does to read messages of so many bytes: the
// share of its lanes that read, and the bytes that it reads of those in the sectors of 32 bytes
// that it touches.
func efficiency(degree []int64, order []uint32, base []int64, lg, size int) (lanes, loads float64) {
	var active, slots, sectors int64
	for first := 0; first < len(order); first += 32 {
		warp := order[first:min(first+32, len(order))]
		for j := int64(0); ; j++ {
			touched, reading := map[int64]bool{}, int64(0)
			for lane, v := range warp {
				if r := first + lane; degree[v] > j {
					reading++
					touched[(base[r>>lg]+j<<lg+int64(r&(1<<lg-1)))*int64(size)/32] = true
				}
			}
			if reading == 0 {
				break
			}
			active, slots, sectors = active+reading, slots+32, sectors+int64(len(touched))
		}
	}
	return float64(active) / float64(slots), float64(active*int64(size)) / float64(32*sectors)
}

// TestColumns runs a program by the parameters of "buffer columns" on an emulated device, compares
// with the host, and counts the efficiency of the layouts that the device makes.
func TestColumns(t *testing.T) {
	dev := emulate.Shared(t)
	const n = 700
	r := rand.New(rand.NewPCG(3, 90))
	b := matrix.NewBuilder[float64](n, n)
	names := r.Perm(n)
	for range 12 * n {
		b.Add(r.IntN(n), names[r.IntN(1+r.IntN(n))], 1) // in-degrees differ
	}
	host := sure.Get(b.Build(semiring.Max[float64]()))
	there := host.Clone()
	sure.Do(there.Move(dev))
	degree := make([]int64, n)
	for at := range host.All() {
		degree[at.Col]++
	}
	p := Program[int32, float64, int32]{
		Init: Init(func(v Vertex) int32 { return v.ID }, "id"),
		Send: Send(func(_ Vertex, s int32) int32 { return s * 3 }, "state * 3"), Sum: semiring.Plus[int32](),
		Apply:      Apply(func(_ Vertex, s, sum int32) (int32, bool) { return s ^ sum&0xffff, true }, "state = state ^ (sum & 0xffff);"),
		Supersteps: 3,
	}
	want := sure.Get(sure.Get(Run(context.Background(), host, p)).State.Dense(0))
	lanes, loads := map[string]float64{}, map[string]float64{}
	for _, plan := range []string{"buffer columns", "buffer columns buckets=0", "buffer columns buckets=0 group=1", "buffer columns buckets=7 group=4",
		"buffer columns buckets=1", "buffer columns sort=exact", "buffer columns group=1 sort=exact"} {
		res, err := Run(context.Background(), there, p, Options{Plan: plan})
		if err != nil {
			t.Fatalf("%s: %v", plan, err)
		}
		if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", plan, got, want)
		}
		c, _ := readBuffer(plan)
		order, base := make([]uint32, n), make([]int64, (n+1<<c.lg-1)>>c.lg+1)
		at := device.Of(dev)
		sure.Do(at.Run(device.Call{Op: "columns"}, func(s *device.Session) {
			d := sure.Get(textOf(p.outline()))
			run := d.on(s, sure.Get(there.Inside().Operand(at)), n)
			box := run.mailbox(&c)
			s.Download(unsafe.Pointer(&order[0]), box.order, 4*n)
			s.Download(unsafe.Pointer(&base[0]), box.base, 8*int64(len(base)))
			if last := base[len(base)-1]; last != box.slots {
				t.Errorf("%s: %d slots, and the groups have %d", plan, box.slots, last)
			}
		}))
		lanes[plan], loads[plan] = efficiency(degree, order, base, c.lg, 4)
		t.Logf("%-34s lanes %.3f, loads %.3f", plan, lanes[plan], loads[plan])
		seen := slices.Clone(order)
		slices.Sort(seen)
		for v := range seen {
			if int(seen[v]) != v {
				t.Fatalf("%s: the order lacks vertex %d", plan, v)
			}
		}
		if c.exact && !slices.IsSortedFunc(order, func(x, y uint32) int { return int(degree[y] - degree[x]) }) {
			t.Errorf("%s: in-degrees are not sorted", plan)
		}
	}
	exact, sorted, none := lanes["buffer columns sort=exact"], lanes["buffer columns"], lanes["buffer columns buckets=0"]
	if !(exact >= sorted && sorted > .9*exact && sorted > none && lanes["buffer columns buckets=7 group=4"] > none) {
		t.Errorf("lanes that read: %v", lanes)
	}
	if !(loads["buffer columns"] > 2*loads["buffer columns group=1 sort=exact"]) {
		t.Errorf("bytes that loads use: %v", loads)
	}
	for _, plan := range []string{"buffer columns group=3", "buffer columns group=64", "buffer columns buckets=-1", "buffer columns buckets=9 sort=exact",
		"buffer columns buckets=2 buckets=2", "buffer columns rows", "buffer columnsgroup=1", "buffer"} {
		var bad *PlanError
		if _, err := Run(context.Background(), there, p, Options{Plan: plan}); !errors.As(err, &bad) || bad.Remedy == "" {
			t.Errorf("%s: %v", plan, err)
		}
	}
}
