package yrep

// A visitor is shown the fields of a payload in their order. That the same layout serves whatever reads,
// writes or prints payloads keeps them from differing.
type visitor interface {
	int8(name string, v *int8)
	int32(name string, v *int32)
	float32(name string, v *float32)
	float64(name string, v *float64)
	uuid(name string, v *UUID)
	text(name string, v *string)
	slot(name string, v *int8)

	// present is shown flags that say which fields follow, states flags that are values by themselves;
	// the names are those of the bits, from bit 0.
	present(v *uint8, names []string)
	states(v *uint8, names []string)
}

var (
	positionFields = []string{"x", "y", "z", "yaw", "pitch"}
	motionStates   = []string{"sneaking", "sprinting"}
)

// visit shows v the fields of an instruction whose id is known.
func (i *Instruction) visit(v visitor) {
	switch i.ID {
	case BlockChange:
		i.block(v)
		v.int32("old_material", &i.Old.Material)
		v.int8("old_data", &i.Old.Data)
		v.int32("new_material", &i.New.Material)
		v.int8("new_data", &i.New.Data)
		return
	case BlockBreakProgress:
		i.block(v)
		v.int32("tracker_id", &i.Tracker)
		v.int8("progress", &i.Progress)
		return
	}
	v.int32("tracker_id", &i.Tracker)
	switch i.ID {
	case AddPlayer:
		v.uuid("uuid", &i.UUID)
		v.text("name", &i.Name)
		v.text("skin_value", &i.SkinValue)
		v.text("skin_signature", &i.SkinSignature)
	case RemovePlayer:
		v.uuid("uuid", &i.UUID)
	case EntityPosition:
		i.position(v)
	case PlayerMotionStatus:
		v.states(&i.Flags, motionStates)
	case PlayerChat:
		v.text("message", &i.Message)
	case PlayerInventory:
		v.slot("slot", &i.Slot)
		v.text("item", &i.Item)
	case ItemProjectileSpawn:
		i.projectile(v)
	case PearlTeleport:
		v.int32("pearl_tracker_id", &i.Pearl)
		i.place(v)
	case PotionSplash:
		i.place(v)
	}
}

func (i *Instruction) block(v visitor) {
	v.int32("x", &i.At[0])
	v.int32("y", &i.At[1])
	v.int32("z", &i.At[2])
}

func (i *Instruction) place(v visitor) {
	v.float64("x", &i.X)
	v.float64("y", &i.Y)
	v.float64("z", &i.Z)
}

// position has only the fields whose flag is set.
func (i *Instruction) position(v visitor) {
	v.present(&i.Flags, positionFields)
	for k, at := range [...]*float64{&i.X, &i.Y, &i.Z} {
		if i.Flags>>k&1 != 0 {
			v.float64(positionFields[k], at)
		}
	}
	if i.Flags&HasYaw != 0 {
		v.float32("yaw", &i.Yaw)
	}
	if i.Flags&HasPitch != 0 {
		v.float32("pitch", &i.Pitch)
	}
}

func (i *Instruction) projectile(v visitor) {
	v.int32("launcher_id", &i.Launcher)
	i.place(v)
	v.float32("yaw", &i.Yaw)
	v.float32("pitch", &i.Pitch)
	v.float64("vx", &i.VelocityX)
	v.float64("vy", &i.VelocityY)
	v.float64("vz", &i.VelocityZ)
	v.text("item", &i.Item)
}
