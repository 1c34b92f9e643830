// Package propagators is the library of field dynamics that come with the engine.
//
//	propagator  what it does                                            writes      stable while
//	Diffusion   pulls each cell toward the mean of its neighbours       in full     Rate·dt·neighbours ≤ 1
//	Wave        springs between each cell and its neighbours' mean      in full     Speed²·dt² + Damping·dt ≤ 2
//	Gradient    the slope of a field, as a vector of two                in full     always
//	Flow        the direction downhill, as a vector of two              in full     always
//	Resource    is eaten where agents are, and grows back               in place    Regrowth·dt ≤ 2, if logistic
//	Decay       shrinks (or grows) by a fixed share                     in place    always
//	Noise       random numbers, cell by cell                            in place    always
//	Movement    moves agents, each as its action says                   in place    always
//	Emission    leaves something wherever agents are                    in place    always; in full, if Set
//	Reward      what being at a cell is worth                           in full     always
//	Morphology  grows or shrinks the region above a threshold           in full     always
//	Copy        a field as it is now or was a tick ago                  in full     always
//	GrayScott   two substances that spread and react                    in full     dt·(DiffU·neighbours + (Feed + 1)/2) ≤ 1
//	Advection   carries a field along with a velocity                   in full     no cell loses more than it holds
//	ShallowWater water that runs over a bed                             in full     see ShallowWater
//	Automaton   a cellular automaton: Life, WireWorld, rule 110         in full     always
//	Majority    takes the state that most neighbours have               in full     always
//	Percolation seeps from cell to cell, through those that are open    in full     always
//	Distance    how many steps away the nearest source is               in full     always
//	Sight       how many viewers see each cell, past what blocks        in full     always
//
// Those that write in full read the state at the start of the tick; each must be
// the first to write its field. Those that write in place go on from what earlier
// propagators of the tick left, so that decay can follow diffusion in one field. Reward
// reads what earlier propagators wrote in this tick, and so does Copy with Now. All except
// Movement, Morphology and Distance run in parallel; no bit depends on the number of workers.
//
// An instance without a name is called after its kind, in lower case; a second one of
// a kind in a world needs a name of its own.
//
// They are plain values that keep nothing between ticks, and work on float32 fields of
// cells. Everything is computed in float32 with every operation rounded by
// itself; parameters are float64 and are rounded where the formula says so. A sum
// over neighbours is a left fold in the lattice's order of neighbours, in which a
// cell counts as often as it occurs, itself included where an edge clamps.
package propagators
