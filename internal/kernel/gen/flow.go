package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"
)

// flows are the kernels of Flow, AddFlow and Negate.
var flows = []elementwise{
	{
		name: "negateVectors", doc: "negateVectors is -in.", silent: true,
		columns: []string{"in", "out"}, read: 1, written: []string{"out"},
		compute: func(v, c []VecVirtual) { VXORPS(eight(1<<31), v[0], v[1]) },
	},
	{
		name: "flowVectors", doc: "flowVectors computes Flow; w is normal, factor.", silent: true,
		columns: []string{"here", "there", "shares"}, read: 2, written: []string{"shares"}, constants: 2,
		compute: func(v, c []VecVirtual) {
			VADDPS(v[1], v[0], v[0])
			VMULPS(v[0], c[0], v[0])
			VMULPS(v[0], c[1], v[2])
		},
	},
	{
		name: "addFlowVectors", doc: "addFlowVectors computes AddFlow; w is normal, factor.", silent: true,
		columns: []string{"here", "there", "shares"}, read: 3, written: []string{"shares"}, constants: 2,
		compute: func(v, c []VecVirtual) {
			VADDPS(v[1], v[0], v[0])
			VMULPS(v[0], c[0], v[0])
			VADDPS(v[0], v[2], v[2])
			VMULPS(v[2], c[1], v[2])
		},
	},
}
