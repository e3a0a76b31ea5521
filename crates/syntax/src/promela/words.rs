//! Names that cannot be used in a Promela model: its own keywords, those of C (SPIN's verifier declares the variables
//! of a model in C under the same names), and the macros of that verifier.

/// All of them.
pub(super) fn reserved() -> impl Iterator<Item = &'static str> {
    [PROMELA, C, VERIFIER].into_iter().flat_map(str::split_ascii_whitespace)
}

const PROMELA: &str = "active assert atomic bit bool break byte chan c_code c_decl c_expr c_state c_track D_proctype \
    d_step do else empty enabled eval false fi for full get_priority goto hidden if in init inline int len ltl mtype \
    nempty never nfull notrace np_ od of pc_value pid print printf printm priority proctype provided return run select \
    set_priority short show skip timeout trace true typedef unless unsigned xr xs always eventually until weakuntil \
    stronguntil implies equivalent release next local U V W X end accept progress";

const C: &str = "auto case char const continue default double enum extern float inline int long main register \
    restrict return short signed sizeof static struct switch union unsigned void volatile while asm typeof NULL \
    errno stdin stdout stderr unix linux i386";

const VERIFIER: &str = "ACCEPT_LAB ALL_P ALPHA_F ASYNC AUTO_RESIZE A_V Air0 Air1 BACKWARD_MOVES BAD BASE BFS BITSTATE \
    BYTESIZE B_FORCED B_PHASE1 B_PHASE2 CHECK CHUNK CNTRSTACK CNT_P COLLAPSE CONSERVATIVE CONTINUE CONTINUE0 CS_ID \
    CS_N CS_NR DEBUG DELTA ETIM FALSE FORWARD_MOVES FREQ FROM_P FULLSTACK GLOBAL GLOBAL_LOCK GN_FRAMES GQ_RD GQ_WR \
    G_int G_long HAS_CODE HAS_HIDDEN HAS_LAST HAS_NP HAS_TRACK HC HC0 HC1 HC2 HC3 HC4 INI_P INLINE_REV IfNotBlocked \
    LC LN_FRAMES LOCAL LONG_T LOOPSTATE L_BOUND MA MAXPROC MAXQ MAX_DSK_FILE MEMCNT MEMLIM MERGED MORE_P NCLAIMS \
    NCORE NDONE_P NFAIR NIBIS NOBOUNDCHECK NOCLAIM NOCOMP NOFAIR NOFIX NOREDUCE NOSTUTTER NOT_AGAIN NOVSZ NO_LAST NP \
    NQS NRUNS NR_QS NTRANS OFFT ONESECOND ONE_L PAN_H PEG PERMUTED PMAX PRINTF PROG_LAB PUTPID P_REVERSE P__Q \
    PanSource Pclaim Pptr QMAX QUERY QUERY_F QUIT Q_EMPT_F Q_EMPT_T Q_FULL_F Q_FULL_T Q_PROVISO RANDOMIZE RANDSTOR REACH RFLAGS \
    RWFLAGS SAFETY SC SDUMP SEP_HEAP SEP_STATE SHORT_T SPACE STORE_CTX SVDUMP SYNC S_A S_IREAD S_IWRITE SpinVersion \
    StackSize State TIMEOUT_F TRANSITIONS TRIX TRUE TRY_AGAIN TWIDTH T_FREE T_HC T_ID T_RAND T_ROW T_ROW_MASK \
    T_ROW_SIZE T_STAT T_VSZ UPTO_P USE_TDH UnBlock VAR_RANGES VECTORSZ VERBOSE VERI VMAX VVERBOSE V_A V_PROVISO WFLAGS \
    WIN32 WIN64 WS W_XPT XUSAFE maxseq0 minseq0 now rand sv uchar uint ulong ushort wasnew PROPERTY ALL_DONE OUTSIDE \
    CHECKS_ASSERTIONS";
