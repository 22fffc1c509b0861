/*
 * The switch between two stacks.
 *
 * void fiber_switch(void **save, void *to)
 *	Pushes the registers that a callee must preserve, leaves the stack
 *	pointer in *save, takes up the stack pointer `to` that an earlier call
 *	left, pops its registers and returns there.
 *
 * void fiber_enter(void **save, void *top, void (*run)(void *), void *arg)
 *	Pushes and saves in the same way, then calls run(arg) on the empty
 *	stack that ends at top (16-byte aligned).  run must not return.
 *
 * To the compiler both are ordinary calls, so only callee-saved registers
 * count: AAPCS64 sec. 6.1 (x19 to x30, the low halves of v8 to v15) and the
 * System V AMD64 psABI sec. 3.2.1 (rbx, rbp, r12 to r15).  Floating-point
 * control registers stay the thread's, see fiber.h.
 *
 * Both stacks have the same frame at the moment of the switch, so the unwind
 * tables hold on either side of it.  In fiber_enter the return address is
 * declared undefined and the frame pointer is zero: there a backtrace ends.
 */
#if defined(WEFT_FIBER_UCONTEXT)

/* fiber.c switches by swapcontext(). */

#elif defined(__aarch64__) && defined(__LP64__)

/*
 * Return addresses are not signed here, those that C code signed on its own
 * stack stay where they were, and `ret` needs no landing pad: the code does not
 * care whether PAC or BTI are on.  The note below says so for BTI.  It does not
 * claim a guarded control stack, which would have to be switched too.
 */
#define FRAME 160

.macro push_saved
	sub	sp, sp, #FRAME
	.cfi_def_cfa_offset FRAME
	stp	x29, x30, [sp]
	.cfi_offset x29, -FRAME
	.cfi_offset x30, -FRAME + 8
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -FRAME + 16
	.cfi_offset x20, -FRAME + 24
	stp	x21, x22, [sp, #32]
	.cfi_offset x21, -FRAME + 32
	.cfi_offset x22, -FRAME + 40
	stp	x23, x24, [sp, #48]
	.cfi_offset x23, -FRAME + 48
	.cfi_offset x24, -FRAME + 56
	stp	x25, x26, [sp, #64]
	.cfi_offset x25, -FRAME + 64
	.cfi_offset x26, -FRAME + 72
	stp	x27, x28, [sp, #80]
	.cfi_offset x27, -FRAME + 80
	.cfi_offset x28, -FRAME + 88
	stp	d8, d9, [sp, #96]
	.cfi_offset d8, -FRAME + 96
	.cfi_offset d9, -FRAME + 104
	stp	d10, d11, [sp, #112]
	.cfi_offset d10, -FRAME + 112
	.cfi_offset d11, -FRAME + 120
	stp	d12, d13, [sp, #128]
	.cfi_offset d12, -FRAME + 128
	.cfi_offset d13, -FRAME + 136
	stp	d14, d15, [sp, #144]
	.cfi_offset d14, -FRAME + 144
	.cfi_offset d15, -FRAME + 152
.endm

	.text
	.p2align 6
	.globl	fiber_switch
	.hidden	fiber_switch
	.type	fiber_switch, %function
fiber_switch:
	.cfi_startproc
	hint	#34			/* bti c */
	push_saved
	mov	x9, sp
	str	x9, [x0]
	mov	sp, x1
	ldp	x29, x30, [sp]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	add	sp, sp, #FRAME
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	fiber_switch, . - fiber_switch

	.p2align 4
	.globl	fiber_enter
	.hidden	fiber_enter
	.type	fiber_enter, %function
fiber_enter:
	.cfi_startproc
	hint	#34			/* bti c */
	push_saved
	mov	x9, sp
	str	x9, [x0]
	mov	sp, x1
	.cfi_def_cfa_offset 0
	.cfi_undefined x30
	mov	x29, xzr
	mov	x30, xzr
	mov	x0, x3
	blr	x2
	brk	#1
	.cfi_endproc
	.size	fiber_enter, . - fiber_enter

	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5		/* NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0	/* AARCH64_FEATURE_1_AND: BTI */

#elif defined(__x86_64__) && defined(__LP64__)

/*
 * There is no .note.gnu.property on purpose: without one the linker leaves
 * shadow stacks off for the program, and they are not switched here.
 */
.macro push_saved
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -24
	pushq	%r12
	.cfi_def_cfa_offset 32
	.cfi_offset %r12, -32
	pushq	%r13
	.cfi_def_cfa_offset 40
	.cfi_offset %r13, -40
	pushq	%r14
	.cfi_def_cfa_offset 48
	.cfi_offset %r14, -48
	pushq	%r15
	.cfi_def_cfa_offset 56
	.cfi_offset %r15, -56
.endm

	.text
	.p2align 6
	.globl	fiber_switch
	.hidden	fiber_switch
	.type	fiber_switch, @function
fiber_switch:
	.cfi_startproc
	push_saved
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	.cfi_def_cfa_offset 48
	.cfi_restore %r15
	popq	%r14
	.cfi_def_cfa_offset 40
	.cfi_restore %r14
	popq	%r13
	.cfi_def_cfa_offset 32
	.cfi_restore %r13
	popq	%r12
	.cfi_def_cfa_offset 24
	.cfi_restore %r12
	popq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_restore %rbx
	popq	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	fiber_switch, . - fiber_switch

	.p2align 4
	.globl	fiber_enter
	.hidden	fiber_enter
	.type	fiber_enter, @function
fiber_enter:
	.cfi_startproc
	push_saved
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	.cfi_def_cfa_offset 0
	.cfi_undefined %rip
	xorl	%ebp, %ebp
	movq	%rcx, %rdi
	callq	*%rdx
	ud2
	.cfi_endproc
	.size	fiber_enter, . - fiber_enter

#endif

	.section .note.GNU-stack, "", %progbits
