package kernel

// The plain twins, for tests that compare.
var (
	CombinePlain     = combinePlain
	CombineEachPlain = combineEachPlain
	ChoosePlain      = choosePlain
	SumNearPlain     = sumNearPlain
	CountNearPlain   = countNearPlain
	RelaxNearPlain   = relaxNearPlain
	RelaxPlain       = relaxPlain
	RelaxWovenPlain  = relaxWovenPlain
	FinitePlain      = finitePlain
	ZeroPlain        = zeroPlain
	WithinPlain      = withinPlain
	StatesPlain      = statesPlain
	ClampPlain       = clampPlain
	ScalePlain       = scalePlain
	MovePlain        = (*Swing).movePlain
	ReactPlain       = (*Reaction).reactPlain
	WalledPlain      = (*Walled).relaxPlain
	ClimbPlain       = (*Slope).climbPlain
	EarnPlain        = earnPlain
	AddPlain         = addPlain
	SamePlain        = samePlain
	PipePlain        = (*Pipe).movePlain
	NegatePlain      = negatePlain
	SettlePlain      = settlePlain
	FlowPlain        = flowPlain
	AddFlowPlain     = addFlowPlain
	CarryPlain       = carryPlain
	CountPlain       = (*Census).countPlain
	PackOnesPlain    = packOnesPlain
	PackAbovePlain   = packAbovePlain
	UnpackPlain      = unpackPlain
	AgePlain         = agePlain
	GrowPlain        = (*Growth).growPlain
	GatherPlain      = gatherPlain
	SHA256TwoPlain   = sha256TwoPlain
)

// Quantiles are what vector code makes of q, 48 numbers or a multiple, as numbers of the
// centre and of the tails; nil without vector code.
func Quantiles(q []float64, scale float64, c *Quantile) (centre, tails []float32) {
	if !vectors {
		return nil, nil
	}
	var w normals
	w.begin([2]uint32{}, 0, scale)
	centre, tails = make([]float32, len(q)), make([]float32, len(q))
	centreVectors(&centre[0], &q[0], len(q), &w.keys[0][0], &c.Centre[0])
	tailVectors(&tails[0], &q[0], len(q), &w.keys[0][0], &c.Centre[0])
	return centre, tails
}
