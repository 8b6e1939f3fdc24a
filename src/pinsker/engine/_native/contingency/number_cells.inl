// The cell number of each row of a dense table. Included by dispatch.cpp once per instruction set;
// compilers turn these loops into vector code by themselves.

void number_cells(const uint8_t *code, const uint16_t *state, size_t rows, uint16_t n_states,
                  uint16_t *cell) {
    for (size_t j = 0; j < rows; ++j)
        cell[j] = static_cast<uint16_t>(code[j] * n_states + state[j]);
}

void number_wide_cells(const uint32_t *code, const uint16_t *state, size_t rows, uint16_t n_states,
                       uint16_t *cell) {
    for (size_t j = 0; j < rows; ++j)
        cell[j] = static_cast<uint16_t>(code[j] * n_states + state[j]);
}

constexpr CellKernels kNumberCells = {number_cells, number_wide_cells};
