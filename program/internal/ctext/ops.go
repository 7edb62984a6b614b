package ctext

import "reflect"

// The loops of operators. Operands that are variables or constants have code of their own where
// programs have them often: a call of a closure takes as long as several operations.

// binary returns x op y of numbers.
func (p *parser) binary(op token, x, y value) (value, error) {
	switch op.text {
	case "<", ">", "<=", ">=", "==", "!=":
		k := common(x.kind, y.kind)
		return comparison(op.text, convert(x, k), convert(y, k)), nil
	case "<<", ">>":
		k := wide(x.kind)
		if isFloat(k) || isFloat(y.kind) {
			return value{}, p.failAt(op.at, "shifts are of integers", "convert the operands to an integer type, as in (int)x")
		}
		return shift(op.text, convert(x, k), convert(y, wide(y.kind))), nil
	}
	k := common(x.kind, y.kind)
	x, y = convert(x, k), convert(y, k)
	if isFloat(k) {
		switch op.text {
		case "%", "&", "|", "^":
			return value{}, p.failAt(op.at, op.text+" is of integers, and an operand is a float", "use fmod, or convert the operands to an integer type")
		}
		if k == reflect.Float32 {
			return arithmetic[float32](op.text, k, x, y), nil
		}
		return arithmetic[float64](op.text, k, x, y), nil
	}
	if (op.text == "/" || op.text == "%") && y.known && isZero(y) {
		return value{}, p.failAt(op.at, "an integer is divided by zero", "divide by another number")
	}
	switch k {
	case reflect.Int32:
		return integral[int32](op.text, k, x, y, p.zero), nil
	case reflect.Uint32:
		return integral[uint32](op.text, k, x, y, p.zero), nil
	case reflect.Int64:
		return integral[int64](op.text, k, x, y, p.zero), nil
	}
	return integral[uint64](op.text, k, x, y, p.zero), nil
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

// isZero reports whether a constant is 0.
func isZero(v value) bool { return !codeOf[bool](convert(v, reflect.Bool))(nil) }

// arithmetic returns x op y for + − * /.
func arithmetic[T number](op string, k reflect.Kind, x, y value) value {
	a, b := operandOf[T](x), operandOf[T](y)
	var code func(*Frame) T
	switch op {
	case "+":
		code = plus(a, b)
	case "-":
		code = minus(a, b)
	case "*":
		code = times(a, b)
	case "/":
		p, q := a.code, b.code
		code = func(f *Frame) T { return p(f) / q(f) }
	}
	return computed(k, a.known && b.known, code)
}

func plus[T number](x, y operand[T]) func(*Frame) T {
	p, q := x.code, y.code
	switch {
	case x.variable && y.variable:
		return func(f *Frame) T { return *ptr[T](f, x.at) + *ptr[T](f, y.at) }
	case x.variable && y.known:
		return func(f *Frame) T { return *ptr[T](f, x.at) + y.k }
	case y.variable:
		return func(f *Frame) T { return p(f) + *ptr[T](f, y.at) }
	case y.known:
		return func(f *Frame) T { return p(f) + y.k }
	case x.variable:
		return func(f *Frame) T { v := q(f); return *ptr[T](f, x.at) + v }
	case x.known:
		return func(f *Frame) T { return x.k + q(f) }
	}
	return func(f *Frame) T { return p(f) + q(f) }
}

func minus[T number](x, y operand[T]) func(*Frame) T {
	p, q := x.code, y.code
	switch {
	case x.variable && y.variable:
		return func(f *Frame) T { return *ptr[T](f, x.at) - *ptr[T](f, y.at) }
	case x.variable && y.known:
		return func(f *Frame) T { return *ptr[T](f, x.at) - y.k }
	case y.variable:
		return func(f *Frame) T { return p(f) - *ptr[T](f, y.at) }
	case y.known:
		return func(f *Frame) T { return p(f) - y.k }
	}
	return func(f *Frame) T { return p(f) - q(f) }
}

func times[T number](x, y operand[T]) func(*Frame) T {
	p, q := x.code, y.code
	switch {
	case x.variable && y.variable:
		return func(f *Frame) T { return *ptr[T](f, x.at) * *ptr[T](f, y.at) }
	case x.variable && y.known:
		return func(f *Frame) T { return *ptr[T](f, x.at) * y.k }
	case y.variable:
		return func(f *Frame) T { return p(f) * *ptr[T](f, y.at) }
	case y.known:
		return func(f *Frame) T { return p(f) * y.k }
	case x.known:
		return func(f *Frame) T { return x.k * q(f) }
	}
	return func(f *Frame) T { return p(f) * q(f) }
}

// integral returns x op y of integers. A division by zero is the error zero.
func integral[T integer](op string, k reflect.Kind, x, y value, zero *Error) value {
	a, b := operandOf[T](x), operandOf[T](y)
	p, q := a.code, b.code
	var code func(*Frame) T
	switch op {
	case "/":
		code = func(f *Frame) T {
			v, by := p(f), q(f)
			if by == 0 {
				f.fail(zero)
				return 0
			}
			return v / by
		}
	case "%":
		code = func(f *Frame) T {
			v, by := p(f), q(f)
			if by == 0 {
				f.fail(zero)
				return 0
			}
			return v % by
		}
	case "&":
		code = func(f *Frame) T { return p(f) & q(f) }
	case "|":
		code = func(f *Frame) T { return p(f) | q(f) }
	case "^":
		code = func(f *Frame) T { return p(f) ^ q(f) }
	default:
		return arithmetic[T](op, k, x, y)
	}
	return computed(k, a.known && b.known, code)
}

// shift returns x << y or x >> y. The count is unsigned, as on a device.
func shift(op string, x, y value) value {
	known := x.known && y.known
	n := codeOf[uint64](convert(y, reflect.Uint64))
	switch x.kind {
	case reflect.Int32:
		return shifted(op, x.kind, codeOf[int32](x), n, known)
	case reflect.Uint32:
		return shifted(op, x.kind, codeOf[uint32](x), n, known)
	case reflect.Int64:
		return shifted(op, x.kind, codeOf[int64](x), n, known)
	}
	return shifted(op, x.kind, codeOf[uint64](x), n, known)
}

func shifted[T integer](op string, k reflect.Kind, x func(*Frame) T, n func(*Frame) uint64, known bool) value {
	if op == "<<" {
		return computed(k, known, func(f *Frame) T { return x(f) << n(f) })
	}
	return computed(k, known, func(f *Frame) T { return x(f) >> n(f) })
}

// comparison returns x op y of two numbers of a kind.
func comparison(op string, x, y value) value {
	switch op { // two less
	case ">":
		op, x, y = "<", y, x
	case ">=":
		op, x, y = "<=", y, x
	}
	switch x.kind {
	case reflect.Int32:
		return compared[int32](op, x, y)
	case reflect.Uint32:
		return compared[uint32](op, x, y)
	case reflect.Int64:
		return compared[int64](op, x, y)
	case reflect.Uint64:
		return compared[uint64](op, x, y)
	case reflect.Float32:
		return compared[float32](op, x, y)
	}
	return compared[float64](op, x, y)
}

func compared[T number](op string, x, y value) value {
	a, b := operandOf[T](x), operandOf[T](y)
	p, q := a.code, b.code
	var code func(*Frame) bool
	switch op {
	case "<":
		code = less(a, b)
	case "<=":
		code = func(f *Frame) bool { return p(f) <= q(f) }
	case "==":
		code = equal(a, b)
	case "!=":
		is := equal(a, b)
		code = func(f *Frame) bool { return !is(f) }
	}
	return computed(reflect.Bool, a.known && b.known, code)
}

func less[T number](x, y operand[T]) func(*Frame) bool {
	p, q := x.code, y.code
	switch {
	case x.variable && y.variable:
		return func(f *Frame) bool { return *ptr[T](f, x.at) < *ptr[T](f, y.at) }
	case x.variable && y.known:
		return func(f *Frame) bool { return *ptr[T](f, x.at) < y.k }
	case x.known && y.variable:
		return func(f *Frame) bool { return x.k < *ptr[T](f, y.at) }
	case y.known:
		return func(f *Frame) bool { return p(f) < y.k }
	}
	return func(f *Frame) bool { return p(f) < q(f) }
}

func equal[T number](x, y operand[T]) func(*Frame) bool {
	p, q := x.code, y.code
	switch {
	case x.variable && y.variable:
		return func(f *Frame) bool { return *ptr[T](f, x.at) == *ptr[T](f, y.at) }
	case x.variable && y.known:
		return func(f *Frame) bool { return *ptr[T](f, x.at) == y.k }
	case y.known:
		return func(f *Frame) bool { return p(f) == y.k }
	}
	return func(f *Frame) bool { return p(f) == q(f) }
}

// negated returns −v, and inverted ~v, of a promoted number.
func negated(v value) value {
	switch v.kind {
	case reflect.Int32:
		return negative[int32](v)
	case reflect.Uint32:
		return negative[uint32](v)
	case reflect.Int64:
		return negative[int64](v)
	case reflect.Uint64:
		return negative[uint64](v)
	case reflect.Float32:
		return negative[float32](v)
	}
	return negative[float64](v)
}

func negative[T number](v value) value {
	x := codeOf[T](v)
	return computed(v.kind, v.known, func(f *Frame) T { return -x(f) })
}

func inverted(v value) value {
	switch v.kind {
	case reflect.Int32:
		return complement[int32](v)
	case reflect.Uint32:
		return complement[uint32](v)
	case reflect.Int64:
		return complement[int64](v)
	}
	return complement[uint64](v)
}

func complement[T integer](v value) value {
	x := codeOf[T](v)
	return computed(v.kind, v.known, func(f *Frame) T { return ^x(f) })
}

// chosen returns c ? x : y of two values of a kind.
func chosen(c func(*Frame) bool, x, y value) value {
	switch wide(x.kind) {
	case reflect.Struct:
		p, q := x.code.(func(*Frame, uintptr)), y.code.(func(*Frame, uintptr))
		return value{kind: x.kind, typ: x.typ, code: func(f *Frame, to uintptr) {
			if c(f) {
				p(f, to)
			} else {
				q(f, to)
			}
		}}
	case reflect.Uint32:
		return either[uint32](c, x, y)
	case reflect.Int64:
		return either[int64](c, x, y)
	case reflect.Uint64:
		return either[uint64](c, x, y)
	case reflect.Float32:
		return either[float32](c, x, y)
	case reflect.Float64:
		return either[float64](c, x, y)
	}
	if x.kind == reflect.Bool {
		return either[bool](c, x, y)
	}
	return either[int32](c, x, y)
}

func either[T any](c func(*Frame) bool, x, y value) value {
	p, q := codeOf[T](x), codeOf[T](y)
	return value{kind: x.kind, code: func(f *Frame) T {
		if c(f) {
			return p(f)
		}
		return q(f)
	}}
}
