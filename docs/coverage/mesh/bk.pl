% One of the structures of Dolsak & Muggleton 1992: the kinds of its 28 edges, what holds and loads them, and their neighbours.
c1(1).
c10(10).
c12(12).
c2(2).
c3(3).
c4(4).
c5(5).
c6(6).
c7(7).
c8(8).
c9(9).
circuit(c15).
circuit(c16).
circuit(c17).
circuit(c18).
circuit(c19).
circuit(c24).
circuit(c25).
circuit(c26).
circuit(c27).
circuit(c28).
circuit_hole(c20).
circuit_hole(c21).
circuit_hole(c22).
circuit_hole(c23).
cont_loaded(c10).
cont_loaded(c11).
cont_loaded(c12).
cont_loaded(c13).
cont_loaded(c14).
cont_loaded(c16).
cont_loaded(c19).
cont_loaded(c24).
cont_loaded(c25).
cont_loaded(c27).
cont_loaded(c28).
fixed(c1).
fixed(c21).
fixed(c22).
fixed(c23).
fixed(c24).
fixed(c25).
fixed(c26).
fixed(c4).
fixed(c9).
free(c11).
free(c12).
free(c13).
free(c15).
free(c16).
free(c17).
free(c18).
free(c19).
free(c20).
free(c27).
free(c28).
free(c6).
free(c7).
long_for_hole(c2).
not_important(c1).
not_important(c11).
not_important(c9).
not_loaded(c1).
not_loaded(c15).
not_loaded(c17).
not_loaded(c18).
not_loaded(c2).
not_loaded(c20).
not_loaded(c21).
not_loaded(c22).
not_loaded(c23).
not_loaded(c26).
not_loaded(c3).
not_loaded(c4).
not_loaded(c5).
not_loaded(c6).
not_loaded(c7).
not_loaded(c8).
not_loaded(c9).
one_side_fixed(c10).
one_side_fixed(c14).
one_side_fixed(c2).
one_side_fixed(c3).
one_side_fixed(c5).
one_side_fixed(c8).
short(c13).
short(c7).
short_for_hole(c3).
short_for_hole(c4).
usual(c10).
usual(c12).
usual(c14).
usual(c5).
usual(c6).
usual(c8).
equal_l(c10, c14).
equal_l(c15, c17).
equal_l(c16, c27).
equal_l(c17, c18).
equal_l(c18, c21).
equal_l(c19, c20).
equal_l(c2, c14).
equal_l(c20, c23).
equal_l(c21, c22).
equal_l(c22, c20).
equal_l(c23, c24).
equal_l(c25, c16).
equal_l(c26, c25).
equal_l(c27, c28).
equal_l(c28, c19).
equal_l(c6, c12).
equal_r(c10, c14).
equal_r(c15, c17).
equal_r(c16, c27).
equal_r(c17, c18).
equal_r(c18, c21).
equal_r(c19, c20).
equal_r(c2, c14).
equal_r(c20, c23).
equal_r(c21, c22).
equal_r(c22, c20).
equal_r(c23, c24).
equal_r(c25, c16).
equal_r(c26, c25).
equal_r(c27, c28).
equal_r(c28, c19).
equal_r(c6, c12).
neighbour_xy_l(c1, c23).
neighbour_xy_l(c11, c27).
neighbour_xy_l(c12, c28).
neighbour_xy_l(c13, c28).
neighbour_xy_l(c16, c11).
neighbour_xy_l(c17, c7).
neighbour_xy_l(c18, c6).
neighbour_xy_l(c19, c13).
neighbour_xy_l(c20, c3).
neighbour_xy_l(c21, c5).
neighbour_xy_l(c24, c1).
neighbour_xy_l(c26, c9).
neighbour_xy_l(c27, c12).
neighbour_xy_l(c3, c22).
neighbour_xy_l(c5, c18).
neighbour_xy_l(c6, c17).
neighbour_xy_l(c7, c15).
neighbour_xy_l(c9, c25).
neighbour_xy_r(c1, c23).
neighbour_xy_r(c11, c27).
neighbour_xy_r(c12, c28).
neighbour_xy_r(c13, c28).
neighbour_xy_r(c16, c11).
neighbour_xy_r(c17, c7).
neighbour_xy_r(c18, c6).
neighbour_xy_r(c19, c13).
neighbour_xy_r(c20, c3).
neighbour_xy_r(c21, c5).
neighbour_xy_r(c24, c1).
neighbour_xy_r(c26, c9).
neighbour_xy_r(c27, c12).
neighbour_xy_r(c3, c22).
neighbour_xy_r(c5, c18).
neighbour_xy_r(c6, c17).
neighbour_xy_r(c7, c15).
neighbour_xy_r(c9, c25).
neighbour_yz_l(c10, c25).
neighbour_yz_l(c14, c24).
neighbour_yz_l(c15, c8).
neighbour_yz_l(c16, c10).
neighbour_yz_l(c19, c14).
neighbour_yz_l(c2, c23).
neighbour_yz_l(c20, c2).
neighbour_yz_l(c21, c4).
neighbour_yz_l(c4, c22).
neighbour_yz_l(c8, c26).
neighbour_yz_r(c10, c25).
neighbour_yz_r(c14, c24).
neighbour_yz_r(c15, c8).
neighbour_yz_r(c16, c10).
neighbour_yz_r(c19, c14).
neighbour_yz_r(c2, c23).
neighbour_yz_r(c20, c2).
neighbour_yz_r(c21, c4).
neighbour_yz_r(c4, c22).
neighbour_yz_r(c8, c26).
neighbour_zx_l(c1, c2).
neighbour_zx_l(c10, c11).
neighbour_zx_l(c11, c12).
neighbour_zx_l(c12, c13).
neighbour_zx_l(c13, c14).
neighbour_zx_l(c14, c1).
neighbour_zx_l(c2, c3).
neighbour_zx_l(c3, c4).
neighbour_zx_l(c4, c5).
neighbour_zx_l(c5, c6).
neighbour_zx_l(c6, c7).
neighbour_zx_l(c7, c8).
neighbour_zx_l(c8, c9).
neighbour_zx_l(c9, c10).
neighbour_zx_r(c1, c2).
neighbour_zx_r(c10, c11).
neighbour_zx_r(c11, c12).
neighbour_zx_r(c12, c13).
neighbour_zx_r(c13, c14).
neighbour_zx_r(c14, c1).
neighbour_zx_r(c2, c3).
neighbour_zx_r(c3, c4).
neighbour_zx_r(c4, c5).
neighbour_zx_r(c5, c6).
neighbour_zx_r(c6, c7).
neighbour_zx_r(c7, c8).
neighbour_zx_r(c8, c9).
neighbour_zx_r(c9, c10).
opposite_l(c10, c14).
opposite_l(c11, c7).
opposite_l(c13, c5).
opposite_l(c15, c16).
opposite_l(c2, c14).
opposite_l(c20, c19).
opposite_l(c21, c22).
opposite_l(c23, c24).
opposite_l(c25, c26).
opposite_l(c27, c17).
opposite_l(c28, c18).
opposite_l(c3, c5).
opposite_l(c6, c12).
opposite_l(c8, c10).
opposite_r(c10, c14).
opposite_r(c11, c7).
opposite_r(c13, c5).
opposite_r(c15, c16).
opposite_r(c2, c14).
opposite_r(c20, c19).
opposite_r(c21, c22).
opposite_r(c23, c24).
opposite_r(c25, c26).
opposite_r(c27, c17).
opposite_r(c28, c18).
opposite_r(c3, c5).
opposite_r(c6, c12).
opposite_r(c8, c10).
