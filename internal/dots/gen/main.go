// Command gen writes the assembly of package dots:
//
//	cd internal/dots/gen && go run . -out ../dots_amd64.s -stubs ../stubs_amd64.go -pkg dots
//
// It is a module of its own, so that avo is no dependency of hiveblas. "make dots" runs it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Distances of prefetches in entries: of the operand, and of the streams in bytes. R-MAT 20 on two
// threads of an AMD EPYC takes 37.8 ms with 64 entries, and 50.0 without prefetches. On an Intel
// Xeon they cost more than they save.
const (
	distance = 64
	stream   = 1024
)

// A kernel computes y[i] = id ⊕ Σ av[p] ⊗ x[ci[p]] for rows. Four sums take turns, as in the Go
// loop, and are the lanes of a vector. Two loads into halves of a register, or four into quarters,
// are faster than the gather instruction on an AMD EPYC, and about as fast on an Intel Xeon.
type kernel struct {
	name  string
	wide  bool // float64
	least bool // ⊕ is min, else plus
	times bool // ⊗ is times, else plus
	reads bool // ⊗ reads both operands, else y alone
}

func main() {
	for _, wide := range []bool{true, false} {
		size := "32"
		if wide {
			size = "64"
		}
		for _, k := range []kernel{
			{name: "plusTimes", times: true, reads: true},
			{name: "plusSecond"},
			{name: "minPlus", least: true, reads: true},
		} {
			k.name, k.wide = k.name+size, wide
			k.write()
		}
	}
	maker()
	Generate()
}

// maker writes the function that reads the first letters of the processor's maker.
func maker() {
	TEXT("maker", NOSPLIT, "func() uint32")
	Doc("maker returns the first four letters of the processor's maker, the first in the lowest byte.")
	XORL(reg.EAX, reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	Store(reg.EBX, ReturnIndex(0))
	RET()
}

func (k kernel) write() {
	typ, bytes := "float32", 4
	if k.wide {
		typ, bytes = "float64", 8
	}
	TEXT(k.name, NOSPLIT, "func(y *"+typ+", rows int, id "+typ+", ptr *int64, ci *int32, av, x *"+typ+", ahead int)")
	Pragma("noescape")
	Doc(k.name + " writes rows items of y. ahead is the last index of ci from which x is prefetched.")
	y, rows, ptr := Load(Param("y"), GP64()), Load(Param("rows"), GP64()), Load(Param("ptr"), GP64())
	ci, x, ahead := Load(Param("ci"), GP64()), Load(Param("x"), GP64()), Load(Param("ahead"), GP64())
	av := GP64()
	if k.reads {
		Load(Param("av"), av)
	}
	id := XMM()
	Load(Param("id"), id)
	if k.wide {
		VUNPCKLPD(id, id, id)
	} else {
		VSHUFPS(U8(0), id, id, id)
	}
	p, n, row := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: ci, Index: ahead, Scale: 4}, ahead)
	MOVQ(Mem{Base: ptr}, p)
	LEAQ(Mem{Base: ci, Index: p, Scale: 4}, ci)
	if k.reads {
		LEAQ(Mem{Base: av, Index: p, Scale: uint8(bytes)}, av)
	}
	ADDQ(U8(8), ptr)
	sum, more, t := XMM(), XMM(), XMM() // more: sums 2 and 3 of float64
	at := []reg.GPVirtual{GP64(), GP64(), GP64(), GP64()}
	operand := func(j int) Mem { return Mem{Base: x, Index: at[j], Scale: uint8(bytes)} }
	indices := func(count, from int) {
		for j := range count {
			MOVL(Mem{Base: ci, Disp: 4 * (from + j)}, at[j].As32())
		}
	}

	Label("row")
	MOVQ(Mem{Base: ptr}, row)
	MOVQ(row, n)
	SUBQ(p, n)
	MOVQ(row, p)
	VMOVAPS(id, sum)
	VMOVAPS(id, more)
	SUBQ(U8(4), n)
	JL(LabelRef("short"))

	Label("four")
	PREFETCHT0(Mem{Base: ci, Disp: stream / 2})
	if k.reads {
		PREFETCHT0(Mem{Base: av, Disp: stream})
	}
	CMPQ(ci, ahead)
	JA(LabelRef("near"))
	indices(4, distance)
	for j := range 4 {
		PREFETCHT0(operand(j))
	}
	Label("near")
	indices(4, 0)
	if k.wide {
		for h, s := range []reg.VecVirtual{sum, more} {
			VMOVSD(operand(2*h), t)
			VMOVHPD(operand(2*h+1), t, t)
			k.combine(Mem{Base: av, Disp: 16 * h}, t, s, true)
		}
	} else {
		VMOVSS(operand(0), t)
		for j := 1; j < 4; j++ {
			VINSERTPS(U8(j<<4), operand(j), t, t)
		}
		k.combine(Mem{Base: av}, t, sum, true)
	}
	ADDQ(U8(16), ci)
	if k.reads {
		ADDQ(U8(4*bytes), av)
	}
	SUBQ(U8(4), n)
	JGE(LabelRef("four"))
	k.fold(sum, more, t)

	Label("short")
	ADDQ(U8(4), n)
	JE(LabelRef("done"))
	Label("one")
	indices(1, 0)
	if k.wide {
		VMOVSD(operand(0), t)
	} else {
		VMOVSS(operand(0), t)
	}
	k.combine(Mem{Base: av}, t, sum, false)
	ADDQ(U8(4), ci)
	if k.reads {
		ADDQ(U8(bytes), av)
	}
	DECQ(n)
	JNE(LabelRef("one"))

	Label("done")
	if k.wide {
		VMOVSD(sum, Mem{Base: y})
	} else {
		VMOVSS(sum, Mem{Base: y})
	}
	ADDQ(U8(bytes), y)
	ADDQ(U8(8), ptr)
	DECQ(rows)
	JNE(LabelRef("row"))
	RET()
}

// combine does sum ⊕= value ⊗ t, for all lanes or the first.
func (k kernel) combine(value Mem, t, sum reg.VecVirtual, all bool) {
	type op = func(ops ...Op)
	pick := func(pd, ps, sd, ss op) op {
		switch {
		case all && k.wide:
			return pd
		case all:
			return ps
		case k.wide:
			return sd
		}
		return ss
	}
	if k.reads {
		if k.times {
			pick(VMULPD, VMULPS, VMULSD, VMULSS)(value, t, t)
		} else {
			pick(VADDPD, VADDPS, VADDSD, VADDSS)(value, t, t)
		}
	}
	if k.least { // the sum, of a product that is a NaN
		pick(VMINPD, VMINPS, VMINSD, VMINSS)(sum, t, sum)
	} else {
		pick(VADDPD, VADDPS, VADDSD, VADDSS)(t, sum, sum)
	}
}

// fold leaves (0 ⊕ 1) ⊕ (2 ⊕ 3) of the sums in the first lane.
func (k kernel) fold(sum, more, t reg.VecVirtual) {
	switch {
	case k.least && k.wide:
		VMINPD(more, sum, sum)
		VPERMILPD(U8(1), sum, t)
		VMINSD(t, sum, sum)
	case k.least:
		VPERMILPS(U8(0x0e), sum, t) // 2 and 3
		VMINPS(t, sum, sum)
		VPERMILPS(U8(1), sum, t)
		VMINSS(t, sum, sum)
	case k.wide:
		VHADDPD(more, sum, sum)
		VHADDPD(sum, sum, sum)
	default:
		VHADDPS(sum, sum, sum)
		VHADDPS(sum, sum, sum)
	}
}
